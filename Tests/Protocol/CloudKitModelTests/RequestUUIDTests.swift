import CloudKitModel
import Foundation
import Testing

struct RequestUUIDTests {
  @Test("they are random UUIDs of version 4, in small letters, and end in four zero bytes")
  func form() throws {
    let texts = (0..<1_000).map { _ in "\(RequestUUID())" }
    #expect(Set(texts).count == texts.count)
    for text in texts {
      #expect(text.count == 36 && text == text.lowercased() && text.hasSuffix("00000000"))
      let bytes = try #require(UUID(uuidString: text)).uuid
      #expect(bytes.6 & 0xF0 == 0x40 && bytes.8 & 0xC0 == 0x80)
    }
    // No bit but those of version and variant is always the same.
    let bytes = texts.compactMap { UUID(uuidString: $0)?.uuid }
    #expect(Set(bytes.map(\.0)).count > 200 && Set(bytes.map(\.11)).count > 200)
    #expect(Set(bytes.map { $0.6 & 0x0F }).count == 16)
  }

  @Test("notification IDs of a request differ, and each leads back to it")
  func notifications() {
    let sequences: [Int64] = [1, 2, 255, 256, 1 << 20, .max >> 32, -1, 1 << 33 + 7]
    for _ in 0..<100 {
      let request = RequestUUID()
      let notifications = sequences.map { request.notificationID(ofChange: $0) }
      #expect(Set(notifications).count == sequences.count)
      #expect(notifications.allSatisfy { RequestUUID(ofNotification: $0) == request })
    }
  }
}
