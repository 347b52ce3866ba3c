import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

struct StoreDamageTests {
  @Test("a sound one is let alone")
  func sound() throws {
    try StoreDamage().check()
  }

  @Test("a damaged one is refused for good, with what was found first")
  func damaged() {
    let damage = StoreDamage()
    damage.note("page 7 does not match its checksum")
    damage.note("page 9 does not match its checksum")
    damage.note(unsynced: "the disk failed to sync")
    let error = #expect(throws: StoreError.self) { try damage.check() }
    #expect(error?.code == .corrupt)
    #expect(error?.reason == "page 7 does not match its checksum")
  }

  @Test("one that the disk failed to sync is refused until it is opened anew")
  func unsynced() {
    let damage = StoreDamage()
    damage.note(unsynced: "the disk failed to sync")
    let error = #expect(throws: StoreError.self) { try damage.check() }
    #expect(error?.code == .diskFailed)
  }
}
