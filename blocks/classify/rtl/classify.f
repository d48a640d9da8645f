-f ../../stream/rtl/stream.f
../../aqm/rtl/pst_ecn_detect.sv
pst_classify.sv
