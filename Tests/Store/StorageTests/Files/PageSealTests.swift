import CPageChecksum
import PropertyTesting
import Testing

@testable import SQLEngine
@testable import Storage

struct PageSealTests {
  @Test("the checksum is XXH64")
  func vectors() {
    let bytes = (0..<4_080).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 / 256) }
    let vectors: [(count: Int, seed: UInt64, checksum: UInt64)] = [
      (0, 0, 0xEF46_DB37_51D8_E999), (8, 1, 0xBEF4_2115_E14B_DFB0),
      (24, 5, 0x716A_D279_D288_E351), (32, 0, 0x91B0_CB09_31A8_C629),
      (64, 9, 0xE882_5042_A7DA_A7BA), (4_080, 1, 0xF4BF_4192_135F_71F1),
      (4_080, 262_146, 0xAFAD_CBDB_CB38_FDBF),
    ]
    for vector in vectors {
      let checksum = bytes.withUnsafeBytes {
        petrel_checksum($0.baseAddress!, vector.count, vector.seed)
      }
      #expect(checksum == vector.checksum, "\(vector)")
    }
  }

  private static func page(_ random: inout SeededGenerator) -> [UInt8] {
    (0..<4_096).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  private static func sums(_ bytes: [UInt8]) -> [UInt32] {
    var first: UInt32 = 7
    var second: UInt32 = 9
    petrel_log_checksum(bytes, bytes.count, 0, &first, &second)
    return [first, second]
  }

  @Test(
    "a page with its seal has the same sums in a write-ahead log as it had before, and its contents"
  )
  func counterweight() {
    for seed in Seeds.some(200) {
      var random = SeededGenerator(seed: seed)
      let before = Self.page(&random)
      var after = before
      after.withUnsafeMutableBytes {
        PageSeal.put(on: $0.baseAddress!, number: UInt32(truncatingIfNeeded: seed))
      }
      #expect(Self.sums(after) == Self.sums(before), "seed \(seed)")
      #expect(after != before)
      #expect(after.dropLast(PageSeal.bytes) == before.dropLast(PageSeal.bytes))
    }
  }

  @Test("a bit that differs, or another place, breaks it")
  func flips() {
    var random = SeededGenerator(seed: 1)
    var page = Self.page(&random)
    page.withUnsafeMutableBytes { PageSeal.put(on: $0.baseAddress!, number: 5) }
    func isIntact(_ page: [UInt8], number: UInt32 = 5) -> Bool {
      page.withUnsafeBytes { PageSeal.isIntact($0.baseAddress!, number: number) }
    }
    #expect(isIntact(page))
    for number: UInt32 in [0, 1, 4, 6, 5 << 8] { #expect(!isIntact(page, number: number)) }
    for bit in 0..<(4_088 * 8) {
      page[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!isIntact(page), "bit \(bit)")
      page[bit / 8] ^= 1 << UInt8(bit % 8)
    }
    #expect(!isIntact([UInt8](repeating: 0, count: 4_096)))
  }
}
