// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Runs address traces through DRAMsim3, for engine/test/test_dramsim3.py: `penstock-dramsim3 CONFIG FOLDER < TRACES`.
//
// A trace is a line, `r` or `w` and a decimal byte address for each beat of 64 bytes: `r0 w64 r128`. Each has a memory system of its own,
// which is offered the beats in this order, one in a cycle of the memory: were reads offered beside the writes, DRAMsim3 would take all
// writes first, as its write buffer were always full. Prints for each trace the cycles until all beats have been answered.
use std::cell::Cell;
use std::io::{stdin, BufRead};

fn cycles(config: &str, folder: &str, trace: &str) -> u64 {
    let mut memory = dramsim3::MemorySystem::new(config, folder).expect("a path without NUL");
    let mut left = trace.split_whitespace().map(|beat| (beat.starts_with('w'), beat[1..].parse::<u64>().expect("a byte address"))).peekable();
    let (mut given, answered, mut cycle) = (0, Cell::new(0), 0);
    while left.peek().is_some() || answered.get() < given {
        if let Some((write, address)) = left.next_if(|(write, address)| memory.can_add(*address, *write)) {
            memory.add(address, write);
            given += 1;
        }
        memory.tick(|_, _| answered.set(answered.get() + 1));
        cycle += 1;
    }
    cycle
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    for trace in stdin().lock().lines() {
        println!("cycles {}", cycles(&arguments[1], &arguments[2], &trace.expect("a line of text")));
    }
}
