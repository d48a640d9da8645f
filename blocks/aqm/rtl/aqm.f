-f aqm_part.f
pst_ecn_detect.sv
pst_ecn_mark.sv
pst_delay_estimate.sv
pst_aqm_algorithm.sv
pst_aqm.sv
