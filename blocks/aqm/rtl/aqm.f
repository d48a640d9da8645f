-f ../../stream/rtl/stream.f
../../memory/rtl/pst_ram_1r1w.sv
pst_aqm_pkg.sv
../../memory/rtl/pst_ram_write_first.sv
pst_inverse_sqrt.sv
pst_codel_aging.sv
pst_codel.sv
pst_ecn_detect.sv
pst_ecn_mark.sv
pst_pie_update.sv
pst_pie.sv
pst_delay_estimate.sv
pst_aqm.sv
