// SPDX-License-Identifier: MIT
//! Replay a day of orders of an exchange and print the depth of the book: order_book ORDERS SNAPSHOT_EVERY

use std::collections::BTreeMap;
use std::env;

#[derive(Clone)]
struct Level {
    quantity: u64,
    orders: Vec<u32>,
}

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn main() {
    let numbers: Vec<u64> = env::args().skip(1).map(|text| text.parse().expect("a number")).collect();
    let (orders, every) = (numbers[0], numbers[1]);
    let mut rng = Rng(0x9e3779b97f4a7c15);
    let mut book: BTreeMap<u64, Level> = BTreeMap::new();
    let mut journal: Vec<[u64; 4]> = Vec::new();
    let mut snapshots: Vec<BTreeMap<u64, u64>> = Vec::new();
    for number in 0..orders {
        let price = 10_000 + (rng.next() % 700);
        let quantity = 1 + rng.next() % 500;
        let level = book.entry(price).or_insert(Level { quantity: 0, orders: Vec::new() });
        level.quantity += quantity;
        level.orders.push(number as u32);
        if level.orders.len() > 400 {
            level.orders.drain(..200);
            level.quantity /= 2;
        }
        journal.push([number, price, quantity, level.quantity]);
        if number % every == 0 {
            snapshots.push(book.iter().map(|(price, level)| (*price, level.quantity)).collect());
        }
        if number % 2_000_000 == 0 {
            eprintln!("order {:>9}  levels {:>4}  journal {:>5} MB", number, book.len(), journal.capacity() * 32 / 1_000_000);
        }
    }
    let best = book.iter().next().expect("an order");
    println!("{} snapshots, best ask {} with {}", snapshots.len(), best.0, best.1.quantity);
}
