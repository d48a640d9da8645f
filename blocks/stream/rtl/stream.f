-f ../../common/rtl/common.f
pst_ram_fifo.sv
pst_frame_fifo.sv
pst_departure_stamp.sv
pst_stream_realign.sv
pst_stream_holes.sv
