import CloudKitModel
import Foundation
import Testing

struct RandomUUIDTests {
  @Test("are of version 4, differ, and use every bit that is free")
  func random() {
    let uuids = (0..<1000).map { _ in RandomUUID.make() }
    #expect(Set(uuids).count == 1000)
    var ones = [UInt8](repeating: 0, count: 16)
    var zeros = [UInt8](repeating: 0, count: 16)
    for uuid in uuids {
      withUnsafeBytes(of: uuid.uuid) { bytes in
        #expect(bytes[6] >> 4 == 4 && bytes[8] >> 6 == 2, "\(uuid)")
        for (index, byte) in bytes.enumerated() {
          ones[index] |= byte
          zeros[index] |= ~byte
        }
      }
    }
    for index in 0..<16 {
      let free: UInt8 = index == 6 ? 0x0F : index == 8 ? 0x3F : 0xFF
      #expect(ones[index] & free == free && zeros[index] & free == free, "byte \(index)")
    }
  }
}
