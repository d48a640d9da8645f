pst_pkg.sv
pst_ram_1r1w.sv
pst_ram_write_first.sv
pst_clear_walk.sv
pst_ram_modify.sv
pst_skid_buffer.sv
pst_fifo.sv
pst_credits.sv
