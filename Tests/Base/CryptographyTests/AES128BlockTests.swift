import Testing

@testable import Cryptography

struct AES128BlockTests {
  @Test("is that of the standard's example")
  func example() throws {
    // FIPS 197, appendix C.1.
    let block = try AES128Block(key: Array(0...15))
    for _ in 0..<2 {
      let sealed = block.encrypt(0x0011_2233_4455_6677, 0x8899_AABB_CCDD_EEFF)
      #expect(sealed == (0x69C4_E0D8_6A7B_0430, 0xD8CD_B780_70B4_C55A))
    }
  }
}
