import Testing

@testable import CloudKit

struct SyncAccountTests {
  private typealias Change = CKSyncEngine.Event.AccountChange.ChangeType

  @Test("Each pair of users is the event that says what has changed")
  func changes() {
    let (anna, ben) = (CKRecord.ID(recordName: "_anna"), CKRecord.ID(recordName: "_ben"))
    #expect(Change(from: nil, to: nil) == nil)
    #expect(Change(from: nil, to: "_anna") == .signIn(currentUser: anna))
    #expect(Change(from: "_anna", to: nil) == .signOut(previousUser: anna))
    #expect(Change(from: "_anna", to: "_anna") == nil)
    #expect(
      Change(from: "_anna", to: "_ben") == .switchAccounts(previousUser: anna, currentUser: ben))
  }
}
