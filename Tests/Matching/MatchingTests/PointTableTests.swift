import PropertyTesting
import Testing

@testable import Matching

struct PointTableTests {
  private func withBytes<Result>(
    _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    bytes.withUnsafeBytes { body($0) }
  }

  @Test(
    "whatever is used and released, a point is found while somebody uses it",
    arguments: Seeds.some(20))
  func model(seed: Int) {
    struct Key: Hashable {
      var bytes: [UInt8]
      var path: UInt32
    }
    var generator = SeededGenerator(seed: seed)
    var table = PointTable(seed: UInt64(seed))
    var model: [Key: (point: UInt32, users: Int)] = [:]
    // Texts long enough that what is released has to be cleared away.
    let keys = (0..<300).map { number in
      Key(
        bytes: Array(repeating: UInt8(number % 7), count: number % 90) + [UInt8(number % 256)],
        path: UInt32(number % 3))
    }
    for step in 0..<3_000 {
      let key = generator.pick(keys)
      if generator.chance(1, in: 2 + step / 1_500) {
        let point = withBytes(key.bytes) { table.use($0, path: key.path) }
        let known = model[key] ?? (point, 0)
        #expect(known.point == point)
        model[key] = (point, known.users + 1)
      } else if let known = model[key] {
        let isGone = table.release(known.point)
        model[key] = known.users == 1 ? nil : (known.point, known.users - 1)
        #expect(isGone == (known.users == 1))
      }
      if generator.chance(1, in: 50) {
        let renumbering = table.renumber()
        #expect(table.freeCount == 0)
        model = model.mapValues { (renumbering[$0.point], $0.users) }
      }
      let other = generator.pick(keys)
      let found = withBytes(other.bytes) { table.find($0, path: other.path) }
      #expect(found == model[other]?.point, "seed \(seed), step \(step)")
    }
    #expect(table.count == model.count)
    #expect(Set(model.values.map(\.point)).count == model.count)
    for key in keys {
      #expect(withBytes(key.bytes) { table.find($0, path: key.path) } == model[key]?.point)
    }
    for (point, users) in model.values {
      for _ in 0..<users { table.release(point) }
    }
    #expect(table.count == 0 && table.points.isEmpty)
  }

  @Test("numbers with one hash are told apart, and stay when others of it go")
  func collisions() {
    var slots = HashSlots()
    let hash: UInt64 = 0xABCD_0000_0000_0000
    for number in 0..<100 as Range<UInt32> { slots.insert(number, hash: hash) }
    for number in stride(from: 0, to: 100 as UInt32, by: 2) { slots.remove(number, hash: hash) }
    for number in 0..<100 as Range<UInt32> {
      let found = slots.find(hash: hash) { $0 == number }
      #expect((found != nil) == (number % 2 == 1))
    }
    #expect(slots.count == 50)
  }

  @Test("a table of any size finds what is in it and nothing else", arguments: [false, true])
  func slots(isDense: Bool) {
    var generator = SeededGenerator(seed: 7)
    var slots = HashSlots(isDense: isDense)
    var model: [UInt32: UInt64] = [:]
    for step in 0..<20_000 as Range<UInt32> {
      if generator.chance(step < 10_000 ? 1 : 3, in: 4), let gone = model.first {
        slots.remove(gone.key, hash: gone.value)
        model[gone.key] = nil
      } else {
        // Few different ones, so that many meet.
        let hash = UInt64.random(in: 0..<3_000, using: &generator) << 51
        slots.insert(step, hash: hash)
        model[step] = hash
      }
    }
    #expect(slots.count == model.count)
    for (number, hash) in model { #expect(slots.find(hash: hash) { $0 == number } == number) }
    for step in 0..<20_000 as Range<UInt32> where model[step] == nil {
      #expect(slots.find(hash: UInt64(step % 3_000) << 51) { $0 == step } == nil)
    }
    for (number, hash) in model { slots.remove(number, hash: hash) }
    #expect(slots.count == 0)
  }

  @Test("bytes of every length have keys of their own")
  func keys() {
    let hash = ByteHash(seed: 3)
    var seen: Set<[UInt64]> = []
    var hashes: Set<UInt64> = []
    for count in 0...40 {
      for filler in [0, 1, 255] as [UInt8] {
        for changed in -1..<count {
          var bytes = [UInt8](repeating: filler, count: count)
          if changed >= 0 { bytes[changed] ^= 0x80 }
          let key = withBytes(bytes) { PointKey($0, path: 5, hash) }
          if key.isWhole {
            #expect(seen.insert([UInt64(key.count), key.low, key.high]).inserted || count == 0)
          }
          #expect(hashes.insert(key.hash).inserted || count == 0)
        }
      }
    }
  }
}
