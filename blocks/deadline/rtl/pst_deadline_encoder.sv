// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Earliest deadline first among the heads of up to 256 classes, exact, a decision per cycle; what is over is dropped on the way.
//
// Each class has one entry at most: the frame at its head. All entries but one stand in a list sorted by deadline; that one, in `pending`,
// came in the cycle before. A decision compares pending with the first of the list and takes the earlier (of two equal ones the first of
// the list, which is older). The next frame of the class that was taken, if there is one at hand, is pending in the next cycle; else a
// class whose head appears may be. Pending is never kept: what is not taken goes into the list in the same cycle. So every entry that has
// been handed over takes part in each decision from the next cycle on.
//
// A frame is over from the cycle after its deadline on (now_i > deadline). Then it is dropped whether the output is ready or not; else it
// waits for take_ready_i, and for a bound that is not before its deadline. All that is behind it in the list is later, so nothing is over that does not stand at the front soon.
// A head that appears waits while the frames taken have followers; after Patience cycles the decision waits for one cycle instead.
// take_valid_o, take_class_o and take_drop_o are combinational, and next_* answers them in the same cycle. first_class_o and
// pending_class_o are known from the cycle's beginning: a slow lookup may be made for both and chosen with take_pending_o.
//
// Deadlines are compared modulo 2^TimeWidth by the sign of the difference: any two entries are less than half of that apart.
// Throughput: a decision per cycle, Patience / (Patience + 1) at worst. Latency: a head takes part in the cycle after its handshake.
// Order: by deadline, equal ones in the order in which they came. Reset forgets all entries.
module pst_deadline_encoder #(
    parameter int unsigned Classes = 64,      // 2 .. 256
    parameter int unsigned Patience = 4,      // cycles for which a new head waits at most, 1 .. 15
    parameter int unsigned TimeWidth = 32,    // bits of a time, 8 .. 32
    parameter bit          Bounded = 1'b0,    // bound_i counts
    localparam int unsigned ClassWidth = $clog2(Classes)
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic [ TimeWidth-1:0] now_i,              // this cycle's number
    // the head of a class that has no entry
    input  logic                  s_head_valid_i,
    output logic                  s_head_ready_o,
    input  logic [ClassWidth-1:0] s_head_class_i,
    input  logic [ TimeWidth-1:0] s_head_deadline_i,
    // decision: the class's head is taken
    input  logic                  take_ready_i,       // a frame may be sent; not needed for a drop
    input  logic                  bound_valid_i,      // with Bounded: it may be sent only if its deadline is not later than this one
    input  logic [ TimeWidth-1:0] bound_i,
    output logic                  take_valid_o,
    output logic                  take_drop_o,        // it is over
    output logic                  take_pending_o,     // its class is pending_class_o, not first_class_o; counts in all cycles
    output logic [ClassWidth-1:0] take_class_o,
    output logic [ TimeWidth-1:0] take_deadline_o,    // of the earliest head, taken or not
    output logic                  front_valid_o,      // there is one, and it is not over
    // the frame behind it, in the same cycle
    input  logic                  next_valid_i,       // there is one at hand; without, the class has no entry until its head appears
    input  logic [ TimeWidth-1:0] next_deadline_i,
    // the two of which one is taken; mean nothing where there is none
    output logic [ClassWidth-1:0] pending_class_o,
    output logic [ClassWidth-1:0] first_class_o
);

  if (Classes < 2 || Classes > 256) begin : g_bad_classes
    $error("pst_deadline_encoder: Classes is %0d, allowed: 2..256", Classes);
  end
  if (Patience < 1 || Patience > 15) begin : g_bad_patience
    $error("pst_deadline_encoder: Patience is %0d, allowed: 1..15", Patience);
  end
  if (TimeWidth < 8 || TimeWidth > 32) begin : g_bad_time
    $error("pst_deadline_encoder: TimeWidth is %0d, allowed: 8..32", TimeWidth);
  end

  typedef struct packed {
    logic                  valid;
    logic [ClassWidth-1:0] id;
    logic [TimeWidth-1:0]  deadline;
  } entry_t;

  // (a - b) is negative: its sign without the subtraction.
  function automatic logic earlier(input logic [TimeWidth-1:0] a, input logic [TimeWidth-1:0] b);
    return a[TimeWidth-1] ^ b[TimeWidth-1] ^ (a[TimeWidth-2:0] < b[TimeWidth-2:0]);
  endfunction

  entry_t pending_d, pending_q;
  entry_t [Classes-1:0] list_q;               // by deadline, those that are not valid at the end
  logic [3:0] waited_d, waited_q;             // cycles for which a head has waited

  // ---- decision

  logic hold, any, pending_wins, pending_over, first_over, pending_later, first_later, take_first, take_pending;

  always_comb begin
    hold            = waited_q == 4'(Patience);
    any             = pending_q.valid || list_q[0].valid;
    pending_wins    = pending_q.valid && (!list_q[0].valid || earlier(pending_q.deadline, list_q[0].deadline));
    pending_over    = earlier(pending_q.deadline, now_i);
    first_over      = earlier(list_q[0].deadline, now_i);
    pending_later   = Bounded && bound_valid_i && earlier(bound_i, pending_q.deadline);
    first_later     = Bounded && bound_valid_i && earlier(bound_i, list_q[0].deadline);
    take_drop_o     = pending_wins ? pending_over : first_over;
    take_valid_o    = any && !hold && (take_drop_o || (take_ready_i && !(pending_wins ? pending_later : first_later)));
    front_valid_o   = any && !take_drop_o;
    take_pending    = take_valid_o && pending_wins;
    take_first      = take_valid_o && !pending_wins;
    take_pending_o  = pending_wins;
    take_class_o    = pending_wins ? pending_q.id : list_q[0].id;
    take_deadline_o = pending_wins ? pending_q.deadline : list_q[0].deadline;
    pending_class_o = pending_q.id;
    first_class_o   = list_q[0].id;
  end

  // ---- what is pending next

  logic follow;

  always_comb begin
    follow         = take_valid_o && next_valid_i;
    s_head_ready_o = !follow;
    pending_d      = '{valid: s_head_valid_i, id: s_head_class_i, deadline: s_head_deadline_i};
    if (follow) pending_d = '{valid: 1'b1, id: take_class_o, deadline: next_deadline_i};
    waited_d = '0;
    if (s_head_valid_i && !s_head_ready_o) waited_d = waited_q + 1'b1;
  end

  // ---- the list: stays[i] says that entry i stands before pending

  logic [Classes:0] stays;
  logic insert;
  entry_t moved[Classes];                     // what comes to an entry's place,
  logic [Classes-1:0] load;                   // if anything does

  always_comb begin
    insert = pending_q.valid && !take_pending;
    stays  = '0;
    for (int unsigned i = 0; i < Classes; i++) stays[i] = list_q[i].valid && !earlier(pending_q.deadline, list_q[i].deadline);
  end

  for (genvar i = 0; i < Classes; i++) begin : g_entry
    entry_t ahead, behind;     // neighbours
    logic first_moved;         // the entry is where pending goes when the list grows
    logic from_behind, from_pending, from_ahead;
    if (i > 0) begin : g_ahead
      assign ahead       = list_q[i-1];
      assign first_moved = stays[i-1];
    end else begin : g_no_ahead
      assign ahead       = '0;
      assign first_moved = 1'b1;
    end
    if (i + 1 < Classes) begin : g_behind
      assign behind = list_q[i+1];
    end else begin : g_no_behind
      assign behind = '0;
    end

    // And-or with a load enable, for a chain of multiplexers costs 1.7 times the LUTs of UltraScale+.
    always_comb begin
      from_behind  = take_first && (!insert || stays[i+1]);
      from_pending = insert && (take_first ? stays[i] && !stays[i+1] : !stays[i] && first_moved);
      from_ahead   = insert && !take_first && !stays[i] && !first_moved;
      moved[i]     = {$bits(entry_t){from_behind}} & behind | {$bits(entry_t){from_pending}} & pending_q
          | {$bits(entry_t){from_ahead}} & ahead;
      load[i]      = from_behind || from_pending || from_ahead;
    end
  end

  always_ff @(posedge clk_i) begin
    pending_q <= pending_d;
    waited_q  <= waited_d;
    for (int unsigned i = 0; i < Classes; i++) if (load[i]) list_q[i] <= moved[i];
    if (rst_i) begin
      pending_q.valid <= 1'b0;
      waited_q        <= '0;
      for (int unsigned i = 0; i < Classes; i++) list_q[i].valid <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  logic had;    // the class whose head appears has an entry that stays
  always_comb begin
    had = pending_q.valid && pending_q.id == s_head_class_i && !take_pending;
    for (int unsigned i = 0; i < Classes; i++) begin
      if (list_q[i].valid && list_q[i].id == s_head_class_i && !(i == 0 && take_first)) had = 1'b1;
    end
    if (follow && take_class_o == s_head_class_i) had = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_i) begin
      a_class_once : assert (!s_head_valid_i || !had) else $error("class %0d has an entry already", s_head_class_i);
      a_class_there : assert (!s_head_valid_i || 32'(s_head_class_i) < Classes) else $error("there is no class %0d", s_head_class_i);
      a_patience : assert (!hold || s_head_ready_o);
      a_list_has_room : assert (!insert || take_first || !list_q[Classes-1].valid);
    end
  end
`endif

endmodule
