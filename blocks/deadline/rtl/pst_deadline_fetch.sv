// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Gives places to chunks: of the loop when one waits there, else of the classes that have chunks in memory, in turn; and shortens lists.
//
// It counts what each class has in memory (pushes pass through it), so it knows by itself where a class's list begins: at serial `next`.
// A splice is computed and handed over while pushes are held back, so the lists do exactly what was computed.
//
// Throughput: an operation every 2 cycles. Order: chunks of a class get places in order; reads are asked for in order of the places' giving.
// Reset:      all is forgotten; the class memories are cleared by the walk of the module above.
module pst_deadline_fetch
  import pst_deadline_pkg::*;
#(
    parameter int unsigned Classes    = 64,
    parameter int unsigned ChunkBeats = 64,
    parameter int unsigned Places     = 4,
    parameter int unsigned Chunks     = 4096,
    parameter int unsigned Reads      = 16,
    localparam int unsigned ClassWidth = $clog2(Classes),
    localparam int unsigned PtrWidth   = $clog2(Places) + 1,  // of places of a class, one bit more than a number
    localparam int unsigned AddrWidth  = $clog2(Chunks * ChunkBeats) + 6
) (
    input  logic                              clk_i,
    input  logic                              rst_i,
    input  logic                              init_i,              // the class memories are cleared
    input  logic [ClassWidth-1:0]             init_class_i,
    // places: given, landed, come back
    output logic [Classes-1:0][PtrWidth-1:0]  given_o,
    input  logic [Classes-1:0][PtrWidth-1:0]  landed_i,
    input  logic                              release_valid_i,
    input  logic [ClassWidth-1:0]             release_class_i,
    output logic [Classes-1:0]                in_memory_o,         // the class has chunks there that have no place yet
    output logic [Classes-1:0]                loop_ok_o,
    // the loop's next chunk gets a place
    input  pst_deadline_ports_pkg::cut_t      loop_i,
    output logic                              loop_given_o,        // pulse
    output logic [PtrWidth-1:0]               loop_place_o,
    // pushes on their way to the lists
    input  pst_deadline_ports_pkg::of_class_t s_push_i,
    output logic                              s_push_ready_o,
    output logic                              m_push_valid_o,
    input  logic                              m_push_ready_i,
    // pops, splices
    output pst_deadline_ports_pkg::of_class_t m_pop_o,
    input  logic                              m_pop_ready_i,
    input  pst_deadline_ports_pkg::popped_t   s_popped_i,
    output logic                              m_splice_valid_o,
    input  logic                              m_splice_ready_i,
    output logic [ClassWidth-1:0]             m_splice_class_o,
    output logic                              m_splice_all_o,
    output logic [20:0]                       m_splice_count_o,
    // a class's chunks before a serial are over; done_o: what can go by a splice is gone
    input  pst_deadline_ports_pkg::cut_t      cut_i,
    output logic                              cut_done_o,          // pulse
    // read addresses
    output logic                              m_axi_arvalid_o,
    input  logic                              m_axi_arready_i,
    output logic [AddrWidth-1:0]              m_axi_araddr_o,
    output logic [7:0]                        m_axi_arlen_o,
    // chunks that land from memory, in order
    output logic                              m_read_valid_o,
    input  logic                              m_read_ready_i,      // it has landed
    output logic [ClassWidth-1:0]             m_read_class_o,
    output logic [PtrWidth-1:0]               m_read_place_o,
    output serial_t                           m_read_serial_o,
    output logic                              m_read_bad_o,        // nothing will come
    // their numbers come back
    output pst_deadline_ports_pkg::free_t     m_free_o,
    input  logic                              m_free_ready_i
);

  localparam int unsigned CreditWidth = $clog2(Reads + 1);

  typedef logic [ClassWidth-1:0] class_t;
  typedef logic [PtrWidth-1:0] ptr_t;

  typedef struct packed {
    class_t  class_id;
    ptr_t    place;
    serial_t serial;
  } place_t;

  typedef struct packed {
    place_t  place;
    number_t number;
    logic    bad;
  } read_t;

  typedef enum logic [1:0] {OpNone, OpLoop, OpFetch, OpCut} op_e;

  class_t loop_class, cut_class, push_class;
  assign loop_class = class_t'(loop_i.class_);
  assign cut_class  = class_t'(cut_i.class_);
  assign push_class = class_t'(s_push_i.class_);

  logic unused_classes;    // bits above ClassWidth
  assign unused_classes = ^{loop_i.class_, cut_i.class_, s_push_i.class_};

  // ---- What each class has: serials are those of chunks; stored and taken count pushes, and pops with splices ----
  ptr_t [Classes-1:0] given_q, released_q;
  logic [Classes-1:0] in_memory_q, room, wants, loop_ok_q;
  serial_t next_mem[Classes];
  serial_t stored_mem[Classes];
  serial_t taken_mem[Classes];

  op_e op_d, op_q;
  class_t op_class_d, op_class_q, pick_class;
  logic pick_valid, pick_take, pushed, fetch_may, op_done;
  serial_t next, taken, in_list, ahead, count, next_new, taken_new;
  logic all, cuts, hold_q;
  logic [CreditWidth-1:0] credits_q;
  logic pop_valid_q, splice_valid_q, splice_all_q;
  class_t pop_class_q, splice_class_q;
  logic [20:0] splice_count_q;

  always_comb begin
    for (int unsigned c = 0; c < Classes; c++) room[c] = given_q[c] - released_q[c] != ptr_t'(Places);
  end

  assign wants       = in_memory_q & room;
  assign given_o     = given_q;
  assign in_memory_o = in_memory_q;
  assign loop_ok_o   = loop_ok_q & ~in_memory_q;   // a push counts from the next cycle on

  pst_deadline_pick #(
      .Classes(Classes)
  ) u_pick (
      .clk_i,
      .rst_i,
      .request_i(wants),
      .take_i   (pick_take),
      .valid_o  (pick_valid),
      .class_o  (pick_class)
  );

  // ---- Pushes pass, unless a splice is under way ----
  assign m_push_valid_o = s_push_i.valid && !hold_q && !init_i;
  assign s_push_ready_o = m_push_ready_i && !hold_q && !init_i;
  assign pushed         = m_push_valid_o && m_push_ready_i;

  // ---- First cycle: which operation. A push that has been offered is not held back. ----
  assign fetch_may = credits_q != '0 && !pop_valid_q;

  always_comb begin
    op_d       = OpNone;
    op_class_d = pick_class;
    pick_take  = 1'b0;
    if (op_q == OpNone && !hold_q && !init_i) begin
      if (loop_i.valid && room[loop_class]) begin
        op_d       = OpLoop;
        op_class_d = loop_class;
      end else if (cut_i.valid && !cut_done_o && !pop_valid_q && (pushed || !s_push_i.valid)) begin
        op_d       = OpCut;
        op_class_d = cut_class;
      end else if (pick_valid && fetch_may) begin
        op_d      = OpFetch;
        pick_take = 1'b1;
      end
    end
  end

  // ---- Second cycle: the class's state is read and changed ----
  assign next    = next_mem[op_class_q];
  assign taken   = taken_mem[op_class_q];
  assign in_list = stored_mem[op_class_q] - taken;
  assign ahead   = cut_i.serial - next;
  assign all     = ahead >= in_list;
  assign cuts    = op_q == OpCut && !ahead[SerialWidth-1] && ahead != '0 && in_list != '0;
  assign count   = all ? in_list : ahead;
  assign op_done = op_q != OpNone;

  always_comb begin
    next_new  = next;
    taken_new = taken;
    case (op_q)
      OpLoop: next_new = loop_i.serial + 1'b1;
      OpFetch: begin
        next_new  = next + 1'b1;
        taken_new = taken + 1'b1;
      end
      OpCut:
      if (cuts) begin
        next_new  = next + count;
        taken_new = taken + count;
      end
      default: ;
    endcase
  end

  assign loop_given_o = op_q == OpLoop;
  assign loop_place_o = given_q[op_class_q];

  always_ff @(posedge clk_i) begin
    if (init_i || op_done) begin
      next_mem[init_i ? init_class_i : op_class_q]  <= init_i ? '0 : next_new;
      taken_mem[init_i ? init_class_i : op_class_q] <= init_i ? '0 : taken_new;
    end
    if (init_i || pushed) begin
      stored_mem[init_i ? init_class_i : push_class] <= init_i ? '0 : stored_mem[push_class] + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    op_q       <= op_d;
    op_class_q <= op_class_d;
    cut_done_o <= op_q == OpCut && !cuts;
    if (op_q == OpLoop || op_q == OpFetch) given_q[op_class_q] <= given_q[op_class_q] + 1'b1;
    if (release_valid_i) released_q[release_class_i] <= released_q[release_class_i] + 1'b1;
    if ((op_q == OpFetch && in_list == serial_t'(1)) || (cuts && all)) in_memory_q[op_class_q] <= 1'b0;
    if (pushed) in_memory_q[push_class] <= 1'b1;
    for (int unsigned c = 0; c < Classes; c++) loop_ok_q[c] <= room[c] && !in_memory_q[c] && landed_i[c] == given_q[c];

    if (m_pop_ready_i) pop_valid_q <= 1'b0;
    if (op_q == OpFetch) begin
      pop_valid_q <= 1'b1;
      pop_class_q <= op_class_q;
    end

    if (op_d == OpCut) hold_q <= 1'b1;
    if (op_q == OpCut) begin
      hold_q         <= cuts;
      splice_valid_q <= cuts;
      splice_all_q   <= all;
      splice_count_q <= 21'(count);
      splice_class_q <= op_class_q;
    end
    if (splice_valid_q && m_splice_ready_i) begin
      splice_valid_q <= 1'b0;
      hold_q         <= 1'b0;
      cut_done_o     <= 1'b1;
    end

    credits_q <= credits_q - CreditWidth'(op_q == OpFetch) + CreditWidth'(m_free_o.valid && m_free_ready_i);
    if (rst_i) begin
      op_q           <= OpNone;
      cut_done_o     <= 1'b0;
      given_q        <= '0;
      released_q     <= '0;
      in_memory_q    <= '0;
      loop_ok_q      <= '0;
      pop_valid_q    <= 1'b0;
      splice_valid_q <= 1'b0;
      hold_q         <= 1'b0;
      credits_q      <= CreditWidth'(Reads);
    end
  end

  assign m_pop_o          = '{valid: pop_valid_q, class_: 8'(pop_class_q)};
  assign m_splice_valid_o = splice_valid_q;
  assign m_splice_class_o = splice_class_q;
  assign m_splice_all_o   = splice_all_q;
  assign m_splice_count_o = splice_count_q;

  // ---- Chunks whose number is awaited, those that are read, and numbers on their way back: a credit each ----
  place_t awaited;
  read_t read;
  number_t ar_number;
  logic unused_number;    // chunks that there are not

  assign unused_number = ^ar_number;

  logic awaited_valid, room_awaited, room_read, room_ar, room_free;

  pst_fifo #(
      .Width($bits(place_t)),
      .Depth(Reads)
  ) u_awaited (
      .clk_i,
      .rst_i,
      .s_valid_i(op_q == OpFetch),
      .s_ready_o(room_awaited),
      .s_data_i ({op_class_q, given_q[op_class_q], next}),
      .m_valid_o(awaited_valid),
      .m_ready_i(s_popped_i.valid),
      .m_data_o (awaited),
      .level_o  ()
  );

  pst_fifo #(
      .Width($bits(read_t)),
      .Depth(Reads)
  ) u_read (
      .clk_i,
      .rst_i,
      .s_valid_i(s_popped_i.valid),
      .s_ready_o(room_read),
      .s_data_i ({awaited, s_popped_i.number, s_popped_i.bad}),
      .m_valid_o(m_read_valid_o),
      .m_ready_i(m_read_ready_i),
      .m_data_o (read),
      .level_o  ()
  );

  pst_fifo #(
      .Width(NumberWidth),
      .Depth(Reads)
  ) u_address (
      .clk_i,
      .rst_i,
      .s_valid_i(s_popped_i.valid && !s_popped_i.bad),
      .s_ready_o(room_ar),
      .s_data_i (s_popped_i.number),
      .m_valid_o(m_axi_arvalid_o),
      .m_ready_i(m_axi_arready_i),
      .m_data_o (ar_number),
      .level_o  ()
  );

  pst_fifo #(
      .Width(NumberWidth),
      .Depth(Reads)
  ) u_free (
      .clk_i,
      .rst_i,
      .s_valid_i(m_read_valid_o && m_read_ready_i),
      .s_ready_o(room_free),
      .s_data_i (read.number),
      .m_valid_o(m_free_o.valid),
      .m_ready_i(m_free_ready_i),
      .m_data_o (m_free_o.number),
      .level_o  ()
  );

  assign m_axi_araddr_o  = AddrWidth'(ar_number) << ($clog2(ChunkBeats) + 6);
  assign m_axi_arlen_o   = 8'(ChunkBeats - 1);
  assign m_read_class_o  = read.place.class_id;
  assign m_read_place_o  = read.place.place;
  assign m_read_serial_o = read.place.serial;
  assign m_read_bad_o    = read.bad;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_credits_cover_reads : assert ((room_awaited || op_q != OpFetch) && ((room_read && room_ar && awaited_valid) || !s_popped_i.valid));
      a_free_has_room : assert (room_free || !m_read_ready_i);
      if (op_q == OpFetch) a_fetch_finds_one : assert (in_list != '0) else $error("class %0d has no chunk in memory", op_class_q);
      if (op_q == OpLoop) begin
        a_loop_in_order : assert (loop_i.serial == next && in_list == '0)
        else $error("class %0d: chunk %0d comes by the loop, %0d is next, %0d are in memory", op_class_q, loop_i.serial, next, in_list);
      end
      for (int unsigned c = 0; c < Classes; c++) a_places : assert (given_q[c] - released_q[c] <= ptr_t'(Places));
    end
  end
`endif

endmodule
