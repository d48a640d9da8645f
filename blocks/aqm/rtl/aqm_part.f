-f ../../common/rtl/common.f
pst_aqm_pkg.sv
