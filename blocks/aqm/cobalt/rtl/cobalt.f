-f ../../rtl/aqm_part.f
pst_cobalt.sv
