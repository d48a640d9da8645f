// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Moves closed chunks out of the tail: to the memory in one burst each, or by the loop straight to the head side.
//
// A chunk takes the loop if the head side has a place for it (loop_ok_i, which also says that nothing of its class is in memory) and no other one
// of its class is on its way; else it goes to memory, and joins its class's list when the memory has confirmed it.
//
// Throughput: a beat per cycle, chunk after chunk, as long as MaxOutstanding bursts cover the time to their responses. A chunk waits while one of
// its class is in the loop. Latency: 4 cycles from s_chunk to its first beat.
// Order:      that of s_chunk, for beats as for pushes. A slot is given back when its last beat has been read.
// Reset:      all is forgotten; memory, tail and head side have to be reset with it.
module pst_deadline_mover
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes        = 64,  // 2..256
    parameter int unsigned ChunkBeats     = 64,  // 8..64, a power of two
    parameter int unsigned AddrWidth      = 32,  // bits of a byte address
    parameter int unsigned MaxOutstanding = 16,  // bursts under way, >= 2
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned BeatWidth  = $clog2(ChunkBeats),
    localparam int unsigned DataWidth  = pst_memory_pkg::DataWidth
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    // closed chunks, and their slots back
    input  logic                    s_chunk_valid_i,
    output logic                    s_chunk_ready_o,
    input  logic [ClassWidth-1:0]   s_chunk_class_i,
    input  serial_t                 s_chunk_serial_i,
    input  number_t                 s_chunk_number_i,
    input  meta_t                   s_chunk_meta_i,
    output logic                    m_moved_valid_o,
    output logic [ClassWidth-1:0]   m_moved_class_o,
    output logic                    m_moved_slot_o,
    output logic                    m_moved_looped_o,
    // the tail's memory; data 2 cycles later
    output logic                    m_read_valid_o,
    output logic [ClassWidth-1:0]   m_read_class_o,
    output logic                    m_read_slot_o,
    output logic                    m_read_header_o,
    output logic [BeatWidth-1:0]    m_read_beat_o,
    input  logic [DataWidth-1:0]    m_read_data_i,
    // loop
    input  logic [Classes-1:0]      loop_ok_i,           // knows of a push or of the end of a loop 4 cycles after it, at the latest
    output logic                    m_loop_valid_o,
    input  logic                    m_loop_ready_i,
    output logic [ClassWidth-1:0]   m_loop_class_o,
    output serial_t                 m_loop_serial_o,
    output logic [DataWidth-1:0]    m_loop_data_o,
    output logic                    m_loop_last_o,
    // AXI4 write master, a burst a chunk
    output pst_axi_pkg::write_req_t m_axi_write_o,
    input  pst_axi_pkg::write_rsp_t m_axi_write_i,
    // chunks in memory, to their classes' lists
    output logic                    m_push_valid_o,
    input  logic                    m_push_ready_i,
    output logic [ClassWidth-1:0]   m_push_class_o,
    output number_t                 m_push_number_o,
    output logic                    m_push_bad_o,        // the memory refused it
    // a chunk of the class is on its way
    output logic [Classes-1:0]      busy_o
);

  localparam int unsigned ChunkBytes   = ChunkBeats * DataWidth / 8;
  localparam int unsigned SettleCycles = 4;    // until loop_ok_i knows
  localparam int unsigned Beats        = 8;    // in the FIFO behind the reads
  localparam int unsigned PushDepth    = 2;
  localparam int unsigned CountWidth   = $clog2(MaxOutstanding + PushDepth + SettleCycles + 1);

  if (AddrWidth < $clog2(ChunkBytes) + 1) begin : g_bad_address
    $error("pst_deadline_mover: AddrWidth is %0d, chunks of %0d byte need more", AddrWidth, ChunkBytes);
  end
  if (MaxOutstanding < 2) begin : g_bad_outstanding
    $error("pst_deadline_mover: MaxOutstanding is %0d, must be at least 2", MaxOutstanding);
  end

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [BeatWidth:0] beats_t;

  typedef struct packed {
    class_t  class_id;
    serial_t serial;
    meta_t   meta;
    beats_t  headers;  // beats of meta and headers
    beats_t  last;     // beat of the chunk
    logic    loop;
  } job_t;

  typedef struct packed {
    class_t  class_id;
    serial_t serial;
    logic    loop;
    logic    last;
  } tag_t;

  typedef struct packed {
    tag_t                 tag;
    logic [DataWidth-1:0] data;
  } beat_t;

  typedef struct packed {
    class_t  class_id;
    number_t number;
  } stored_t;

  typedef struct packed {
    stored_t stored;
    logic    bad;
  } push_t;

  // ---- Choice: loop or memory ----
  logic [Classes-1:0] looping_q;
  logic [Classes-1:0][CountWidth-1:0] storing_q;
  logic chosen, loop, address_ready, pending_ready, job_valid_q, job_done;
  job_t job_q, job;
  beats_t headers, beats;

  always_comb begin
    headers = beats_t'(header_beats(16'(s_chunk_meta_i.frames)));
    beats   = headers + beats_t'((11'(s_chunk_meta_i.data_units) + 11'(BeatUnits - 1)) >> $clog2(BeatUnits));
    loop    = loop_ok_i[s_chunk_class_i] && storing_q[s_chunk_class_i] == '0;
    job     = '{
        class_id: s_chunk_class_i,
        serial: s_chunk_serial_i,
        meta: s_chunk_meta_i,
        headers: headers,
        last: beats - 1'b1,
        loop: loop
    };
    s_chunk_ready_o = (!job_valid_q || job_done) && !looping_q[s_chunk_class_i] && (loop || (address_ready && pending_ready));
    chosen          = s_chunk_valid_i && s_chunk_ready_o;
  end

  // ---- Reads: beat after beat, as long as the FIFO behind has room ----
  beats_t beat_q;
  logic room, read, out_taken;

  assign read            = job_valid_q && room;
  assign job_done        = read && beat_q == job_q.last;
  assign m_read_valid_o  = read;
  assign m_read_class_o  = job_q.class_id;
  assign m_read_slot_o   = job_q.serial[0];
  assign m_read_header_o = beat_q < job_q.headers;
  assign m_read_beat_o   = BeatWidth'(m_read_header_o ? beat_q : beat_q - job_q.headers);

  pst_credits #(
      .Credits(Beats)
  ) u_room (
      .clk_i,
      .rst_i,
      .take_i(read),
      .give_i({1'b0, out_taken}),
      .any_o (room)
  );

  always_ff @(posedge clk_i) begin
    if (chosen) job_q <= job;
    job_valid_q <= chosen || (job_valid_q && !job_done);
    if (read) beat_q <= job_done ? '0 : beat_q + 1'b1;
    if (rst_i) begin
      job_valid_q <= 1'b0;
      beat_q      <= '0;
    end
  end

  // ---- What is read, with the meta, in the order of the reads ----
  logic [1:0] read_q, first_q;
  tag_t [1:0] tag_q;
  meta_t [1:0] meta_q;
  beat_t in, out;
  logic in_ready, out_valid;

  always_ff @(posedge clk_i) begin
    read_q  <= {read_q[0], read};
    first_q <= {first_q[0], beat_q == '0};
    tag_q   <= {tag_q[0], {job_q.class_id, job_q.serial, job_q.loop, beat_q == job_q.last}};
    meta_q  <= {meta_q[0], job_q.meta};
    if (rst_i) read_q <= '0;
  end

  assign in = '{tag: tag_q[1], data: {m_read_data_i[DataWidth-1:UnitWidth], first_q[1] ? meta_q[1] : m_read_data_i[UnitWidth-1:0]}};

  assign m_moved_valid_o  = read_q[1] && tag_q[1].last;
  assign m_moved_class_o  = tag_q[1].class_id;
  assign m_moved_slot_o   = tag_q[1].serial[0];
  assign m_moved_looped_o = tag_q[1].loop;

  pst_fifo #(
      .Width($bits(beat_t)),
      .Depth(Beats),
      .RegisterOutput(1'b1)
  ) u_beats (
      .clk_i,
      .rst_i,
      .s_valid_i(read_q[1]),
      .s_ready_o(in_ready),
      .s_data_i (in),
      .m_valid_o(out_valid),
      .m_ready_i(out_taken),
      .m_data_o (out),
      .level_o  ()
  );

  assign out_taken            = out_valid && (out.tag.loop ? m_loop_ready_i : m_axi_write_i.wready);
  assign m_loop_valid_o       = out_valid && out.tag.loop;
  assign m_loop_class_o       = out.tag.class_id;
  assign m_loop_serial_o      = out.tag.serial;
  assign m_loop_data_o        = out.data;
  assign m_loop_last_o        = out.tag.last;
  assign m_axi_write_o.wvalid = out_valid && !out.tag.loop;
  assign m_axi_write_o.wdata  = out.data;
  assign m_axi_write_o.wstrb  = '1;
  assign m_axi_write_o.wlast  = out.tag.last;

  // ---- Memory: address with the choice, push with the response ----
  stored_t pending;
  push_t push;
  logic pending_valid, push_ready, answered;
  number_t address_number;
  logic unused_number;    // chunks that there are not

  assign unused_number = ^address_number;


  pst_fifo #(
      .Width(NumberWidth + 8),
      .Depth(2)
  ) u_address (
      .clk_i,
      .rst_i,
      .s_valid_i(chosen && !loop),
      .s_ready_o(address_ready),
      .s_data_i ({s_chunk_number_i, 8'(job.last)}),
      .m_valid_o(m_axi_write_o.awvalid),
      .m_ready_i(m_axi_write_i.awready),
      .m_data_o ({address_number, m_axi_write_o.awlen}),
      .level_o  ()
  );

  logic [AddrWidth-1:0] address;

  assign address              = AddrWidth'(address_number) << $clog2(ChunkBytes);
  assign m_axi_write_o.awaddr = pst_axi_pkg::addr_t'(address);

  pst_fifo #(
      .Width($bits(stored_t)),
      .Depth(MaxOutstanding)
  ) u_pending (
      .clk_i,
      .rst_i,
      .s_valid_i(chosen && !loop),
      .s_ready_o(pending_ready),
      .s_data_i ({s_chunk_class_i, s_chunk_number_i}),
      .m_valid_o(pending_valid),
      .m_ready_i(answered),
      .m_data_o (pending),
      .level_o  ()
  );

  assign m_axi_write_o.bready = pending_valid && push_ready;
  assign answered             = m_axi_write_o.bready && m_axi_write_i.bvalid;

  pst_fifo #(
      .Width($bits(push_t)),
      .Depth(PushDepth)
  ) u_push (
      .clk_i,
      .rst_i,
      .s_valid_i(answered),
      .s_ready_o(push_ready),
      .s_data_i ({pending, m_axi_write_i.bresp >= 2'b10}),
      .m_valid_o(m_push_valid_o),
      .m_ready_i(m_push_ready_i),
      .m_data_o (push),
      .level_o  ()
  );

  assign m_push_class_o  = push.stored.class_id;
  assign m_push_number_o = push.stored.number;
  assign m_push_bad_o    = push.bad;

  // ---- What is on its way, until loop_ok_i knows of it ----
  logic [SettleCycles-1:0] pushed_q, looped_q;
  class_t [SettleCycles-1:0] pushed_class_q, looped_class_q;
  logic more, less;

  assign more = chosen && !loop;
  assign less = pushed_q[SettleCycles-1];

  for (genvar c = 0; c < Classes; c++) begin : g_busy
    assign busy_o[c] = looping_q[c] || storing_q[c] != '0;
  end

  always_ff @(posedge clk_i) begin
    pushed_q       <= {pushed_q[SettleCycles-2:0], m_push_valid_o && m_push_ready_i};
    pushed_class_q <= {pushed_class_q[SettleCycles-2:0], m_push_class_o};
    looped_q       <= {looped_q[SettleCycles-2:0], m_loop_valid_o && m_loop_ready_i && m_loop_last_o};
    looped_class_q <= {looped_class_q[SettleCycles-2:0], m_loop_class_o};

    if (looped_q[SettleCycles-1]) looping_q[looped_class_q[SettleCycles-1]] <= 1'b0;
    if (chosen && loop) looping_q[s_chunk_class_i] <= 1'b1;

    if (!(more && less && s_chunk_class_i == pushed_class_q[SettleCycles-1])) begin
      if (more) storing_q[s_chunk_class_i] <= storing_q[s_chunk_class_i] + 1'b1;
      if (less) storing_q[pushed_class_q[SettleCycles-1]] <= storing_q[pushed_class_q[SettleCycles-1]] - 1'b1;
    end
    if (rst_i) begin
      pushed_q  <= '0;
      looped_q  <= '0;
      looping_q <= '0;
      storing_q <= '0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_beats_have_room : assert (in_ready || !read_q[1]);
      a_response_was_asked_for : assert (!m_axi_write_i.bvalid || pending_valid) else $error("a response without a burst");
      if (less) a_stored_was_counted : assert (storing_q[pushed_class_q[SettleCycles-1]] != '0);
      if (looped_q[SettleCycles-1]) a_looped_was_counted : assert (looping_q[looped_class_q[SettleCycles-1]]);
      if (chosen) a_chunk_is_no_longer_than_that : assert (32'(beats) <= ChunkBeats && headers != '0);
    end
  end
`endif

endmodule
