-f ../../stream/rtl/stream.f
../../memory/rtl/pst_ram_1r1w.sv
../../memory/rtl/pst_ram_write_first.sv
pst_aqm_pkg.sv
