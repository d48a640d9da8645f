-f ../../common/rtl/common.f
pst_aqm_pkg.sv
pst_aqm_walk.sv
pst_aqm_aging.sv
pst_pi_step.sv
pst_inverse_sqrt.sv
pst_control_law.sv
