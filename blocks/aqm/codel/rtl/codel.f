-f ../../rtl/aqm_part.f
pst_inverse_sqrt.sv
pst_codel_aging.sv
pst_codel.sv
