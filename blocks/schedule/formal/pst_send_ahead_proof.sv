// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Proof bench of pst_send_ahead: packets of a queue go to the hierarchy in order, one at a time; none is lost or doubled; a place is taken
// exactly while its packet is on its way or there; a packet that may go is offered; a reserved place is always there.
//
// Around it: decisions as pst_schedule_shaped makes them (a queue has two packets outstanding at most; the second one is sent ahead), any
// packet dropped on its way, a FIFO between, a hierarchy that lets packets through at will. A packet's data is its number in its queue, modulo 4.
module pst_send_ahead_proof #(
    parameter int unsigned Places = 2,
    localparam int unsigned Queues = 2,
    localparam int unsigned Depth = 4
) (
    input logic clk_i,
    input logic rst_i,
    input logic decide_i,
    input logic decide_queue_i,
    input logic drop_i,          // the packet that is decided on will be dropped
    input logic packet_i,        // the FIFO's first packet comes
    input logic ready_i,
    input logic done_i,
    input logic done_next_queue_i
);

  typedef struct packed {
    logic       queue_id;
    logic       drop;
    logic [1:0] number;
  } flight_t;

  logic room, room_q, decide, ahead, come, gone, packet_valid, packet_ready, out_valid, out_queue, done, done_queue_q, seen_q;
  initial seen_q = 1'b0;
  logic [1:0] out_number;
  flight_t flight_q[Depth];      // beside the DUT's FIFO of turns
  flight_t first;
  logic [2:0] level;
  logic [1:0] oldest;            // slot of the FIFO's oldest word
  logic [Queues-1:0][1:0] decided_q, issued_q, through_q;    // packets of each queue that are not dropped
  logic [Queues-1:0][1:0] outstanding;
  logic [Queues-1:0] in_hierarchy;

  assign level        = u_dut.u_turns.level_q;
  assign oldest       = 2'(u_dut.u_turns.waddr_q - 2'(level));
  assign first        = flight_q[oldest];
  assign packet_valid = packet_i && level != '0 && !first.drop;
  assign gone         = packet_i && level != '0 && first.drop;
  assign come         = packet_valid && packet_ready;
  assign decide       = decide_i && level != 3'(Depth) && (ahead ? room_q && outstanding[decide_queue_i] == 2'd1 : 1'b1);
  assign ahead        = outstanding[decide_queue_i] != '0;
  assign done         = done_i && in_hierarchy[done_queue_q];

  always_comb begin
    for (int q = 0; q < Queues; q++) begin
      outstanding[q]  = decided_q[q] - through_q[q];
      in_hierarchy[q] = issued_q[q] != through_q[q];
    end
  end

  pst_send_ahead #(
      .Queues(Queues), .Width(2), .Places(Places), .Depth(Depth)
  ) u_dut (
      .clk_i, .rst_i,
      .s_decide_valid_i(decide), .s_decide_ahead_i(ahead), .s_decide_queue_i(decide_queue_i), .room_o(room),
      .s_packet_valid_i(packet_valid), .s_packet_ready_o(packet_ready), .s_packet_queue_i(first.queue_id), .s_packet_data_i(first.number),
      .s_packet_gone_i(gone),
      .m_packet_valid_o(out_valid), .m_packet_ready_i(ready_i), .m_packet_queue_o(out_queue), .m_packet_data_o(out_number),
      .s_done_valid_i(done), .s_done_queue_i(done_queue_q), .s_done_next_queue_i(done_next_queue_i)
  );

  always_ff @(posedge clk_i) begin
    seen_q <= 1'b1;
    done_queue_q <= done_next_queue_i;
    room_q <= room && !rst_i;
    if (decide) begin
      flight_q[u_dut.u_turns.waddr_q] <= '{queue_id: decide_queue_i, drop: drop_i, number: decided_q[decide_queue_i]};
      if (!drop_i) decided_q[decide_queue_i] <= decided_q[decide_queue_i] + 1'b1;
    end
    if (out_valid && ready_i) issued_q[out_queue] <= issued_q[out_queue] + 1'b1;
    if (done) through_q[done_queue_q] <= through_q[done_queue_q] + 1'b1;
    if (rst_i) begin
      decided_q <= '0;
      issued_q  <= '0;
      through_q <= '0;
    end
  end

  always_ff @(posedge clk_i) if (!seen_q) m_reset_first : assume (rst_i);

  // --- where packets are: in flight (slot k of the FIFO), or in a place

  logic [Depth-1:0] flying, turn_ahead;
  logic [Depth-1:0][$clog2(Places)-1:0] turn_place;
  logic [Places-1:0][2:0] owners;
  logic [Queues-1:0][2:0] there;
  logic [3:0] used;

  always_comb begin
    owners = '0;
    there  = '0;
    used   = '0;
    for (int k = 0; k < Depth; k++) begin
      flying[k] = 2'(2'(k) - oldest) < level || level == 3'(Depth);
      {turn_ahead[k], turn_place[k]} = u_dut.u_turns.mem[k];
      for (int p = 0; p < Places; p++) owners[p] += 3'(flying[k] && turn_ahead[k] && 32'(turn_place[k]) == p);
      if (flying[k] && !flight_q[k].drop) there[flight_q[k].queue_id] += 1'b1;
    end
    for (int p = 0; p < Places; p++) begin
      owners[p] += 3'(u_dut.here_q[p]);
      if (u_dut.here_q[p]) there[u_dut.queue_q[p]] += 1'b1;
      used += 4'(u_dut.taken_q[p]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (seen_q && !rst_i) begin
      // what a user relies on
      if (out_valid) begin
        a_one : assert (!in_hierarchy[out_queue]);
        a_order : assert (out_number == issued_q[out_queue]);
      end
      if (decide && ahead) a_place : assert (u_dut.taken_q != '1);
      if ((u_dut.here_q & u_dut.through_q) != '0 || (packet_valid && !u_dut.turn.ahead)) a_offered : assert (out_valid);
      for (int q = 0; q < Queues; q++) a_there : assert (there[q] == 3'(2'(decided_q[q] - issued_q[q])));
      for (int p = 0; p < Places; p++) a_place_has_an_owner : assert (owners[p] == 3'(u_dut.taken_q[p]));

      // what the induction needs
      a_fifo : assert (2'(oldest + 1'b1) == u_dut.u_turns.raddr_q && 32'(level) <= Depth
                       && u_dut.turn_valid == (level != '0));
      if (level != '0) a_first : assert (u_dut.turn == u_dut.u_turns.mem[oldest]);
      a_used : assert (used == 4'(u_dut.used_q));
      a_pick : assert (u_dut.pick_valid_q == ((u_dut.here_q & u_dut.through_q) != '0));
      if (u_dut.pick_valid_q)
        a_may : assert (32'(u_dut.pick_q) < Places && u_dut.here_q[u_dut.pick_q] && u_dut.through_q[u_dut.pick_q]);
      for (int p = 0; p < Places; p++) if (u_dut.taken_q[p]) a_match : assert (u_dut.match_q[p] == (done_queue_q == u_dut.queue_q[p]));
      if (room_q) a_room : assert (u_dut.taken_q != '1);
      for (int q = 0; q < Queues; q++) a_outstanding : assert (outstanding[q] <= 2'd2 && 2'(issued_q[q] - through_q[q]) <= 2'd1
                                              && 2'(issued_q[q] - through_q[q]) <= outstanding[q]);
      for (int k = 0; k < Depth; k++) begin
        if (flying[k] && turn_ahead[k]) begin
          a_turn_place : assert (32'(turn_place[k]) < Places && u_dut.queue_q[turn_place[k]] == flight_q[k].queue_id);
        end
        if (flying[k] && !flight_q[k].drop) begin
          // the oldest one of its queue goes straight on, or the one before it is through
          a_turn_number : assert (2'(flight_q[k].number - issued_q[flight_q[k].queue_id])
                  < 2'(decided_q[flight_q[k].queue_id] - issued_q[flight_q[k].queue_id]));
          a_turn_through : assert ((flight_q[k].number == through_q[flight_q[k].queue_id]) == (!turn_ahead[k]
              || u_dut.through_q[turn_place[k]]));
        end
        for (int j = 0; j < Depth; j++) begin
          if (j != k && flying[k] && flying[j] && !flight_q[k].drop && !flight_q[j].drop
              && flight_q[k].queue_id == flight_q[j].queue_id) begin
            a_numbers_differ : assert (flight_q[k].number != flight_q[j].number);
            // FIFO
            a_numbers_in_order : assert ((2'(flight_q[k].number - issued_q[flight_q[k].queue_id])
                < 2'(flight_q[j].number - issued_q[flight_q[k].queue_id]))
                    == (2'(2'(k) - oldest) < 2'(2'(j) - oldest)));
          end
        end
        for (int p = 0; p < Places; p++) begin
          if (flying[k] && !flight_q[k].drop && u_dut.here_q[p] && u_dut.queue_q[p] == flight_q[k].queue_id) begin
            a_here_before_turns : assert (2'(u_dut.data_q[p] - issued_q[u_dut.queue_q[p]])
                < 2'(flight_q[k].number - issued_q[u_dut.queue_q[p]]));
          end
        end
      end
      for (int p = 0; p < Places; p++) begin
        if (u_dut.here_q[p]) begin
          a_here_is_taken : assert (u_dut.taken_q[p]);
          a_here_number : assert (2'(u_dut.data_q[p] - issued_q[u_dut.queue_q[p]])
              < 2'(decided_q[u_dut.queue_q[p]] - issued_q[u_dut.queue_q[p]]));
          a_here_through : assert ((u_dut.data_q[p] == through_q[u_dut.queue_q[p]]) == u_dut.through_q[p]);
        end
        for (int o = 0; o < Places; o++) begin
          if (o != p && u_dut.here_q[p] && u_dut.here_q[o] && u_dut.queue_q[p] == u_dut.queue_q[o]) begin
            a_here_once : assert (u_dut.data_q[p] != u_dut.data_q[o]);
          end
        end
      end

      // useful work is possible
      c_waits : cover (u_dut.here_q == '1);
      c_turns : cover (out_valid && ready_i && u_dut.from_place && u_dut.straight);
      c_dropped : cover (u_dut.dropped && u_dut.through_q[u_dut.turn.place]);
    end
  end

endmodule
