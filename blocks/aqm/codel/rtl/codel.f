-f ../../rtl/aqm_part.f
pst_codel.sv
