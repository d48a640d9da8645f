-f ../../rtl/aqm_part.f
pst_dualpi2_update.sv
pst_dualpi2.sv
