-f ../../stream/rtl/stream.f
pst_classify_prefix.sv
