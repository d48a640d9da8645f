pst_pkg.sv
../../memory/rtl/pst_ram_1r1w.sv
pst_skid_buffer.sv
pst_fifo.sv
pst_credits.sv
pst_ram_fifo.sv
pst_frame_fifo.sv
pst_stream_realign.sv
