import CloudKit
import Foundation
import PetrelTesting
import Testing

/// A class as an app could have it that keeps notes in sync.
private struct NotesStore {
  let container: CKContainer
  var database: CKDatabase { container.privateCloudDatabase }

  func subscribe() async throws {
    let subscription = CKQuerySubscription(
      recordType: "Note", predicate: NSPredicate(format: "pinned == 1"),
      subscriptionID: "pinned-notes", options: [.firesOnRecordCreation, .firesOnRecordUpdate])
    let info = CKSubscription.NotificationInfo()
    info.alertLocalizationKey = "%1$@"
    info.alertLocalizationArgs = ["title"]
    info.shouldBadge = true
    subscription.notificationInfo = info
    _ = try await database.save(subscription)
  }

  @discardableResult
  func add(_ title: String, pinned: Bool = false) async throws -> CKRecord {
    let record = CKRecord(recordType: "Note")
    record["title"] = title
    record["pinned"] = pinned
    return try await database.save(record)
  }

  /// Changes a title; when another device was faster, ours goes behind theirs.
  func rename(_ note: CKRecord, to title: String) async throws -> CKRecord {
    note["title"] = title
    do {
      return try await database.save(note)
    } catch let error as CKError where error.code == .serverRecordChanged {
      guard let server = error.serverRecord else { throw error }
      server["title"] = "\(server["title"] ?? "") / \(title)"
      return try await database.save(server)
    }
  }

  /// Tries once more after the time that the server asks for.
  ///
  /// - Parameter wait: waits for so many seconds; in an app `Task.sleep(for: .seconds($0))`.
  func addPatiently(_ title: String, waiting wait: (Double) async throws -> Void) async throws {
    do {
      try await add(title)
    } catch let error as CKError {
      guard let seconds = error.retryAfterSeconds else { throw error }
      try await wait(seconds)
      try await add(title)
    }
  }

  func titles() async throws -> [String] {
    let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
    query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    let (matches, _) = try await database.records(matching: query)
    return try matches.map { try $0.1.get()["title"] as? String ?? "" }
  }
}

struct NotesSyncTests {
  @Test("a pinned note reaches the other devices with its title")
  func pinned() async throws {
    let cloud = try await TestCloud()
    let phone = NotesStore(container: cloud.container(user: "anna", device: "iphone"))
    let tablet = NotesStore(container: cloud.container(user: "anna", device: "ipad"))
    try await tablet.subscribe()

    try await phone.add("Milk")
    let pinned = try await phone.add("Bread", pinned: true)

    let pushes = await cloud.pushes(to: "anna", device: "ipad")
    #expect(pushes.count == 1)
    let notification = try #require(pushes.first?.notification as? CKQueryNotification)
    #expect(notification.recordID == pinned.recordID)
    #expect(notification.subscriptionID == "pinned-notes")
    #expect(try await tablet.titles() == ["Bread", "Milk"])
  }

  @Test("two devices that rename a note at once lose nothing")
  func conflict() async throws {
    let cloud = try await TestCloud()
    let phone = NotesStore(container: cloud.container(user: "anna", device: "iphone"))
    let note = try await phone.add("Milk")
    cloud.fail(next: .conflict(changing: { $0["title"] = "Oat milk" }))
    let renamed = try await phone.rename(note, to: "Two bottles")
    #expect(renamed["title"] == "Oat milk / Two bottles")
  }

  @Test("a busy server is asked again")
  func busy() async throws {
    let cloud = try await TestCloud()
    let phone = NotesStore(container: cloud.container(user: "anna", device: "iphone"))
    cloud.fail(next: .rateLimited(retryAfter: 30), operation: .modifyRecords)
    var pauses: [Double] = []
    try await phone.addPatiently("Milk") { pauses.append($0) }
    #expect(pauses == [30])
    #expect(try await phone.titles() == ["Milk"])
  }

  @Test("without an account nothing can be saved")
  func signedOut() async throws {
    let cloud = try await TestCloud()
    let notes = NotesStore(container: cloud.container(user: nil))
    await #expect(throws: CKError.self) { try await notes.add("Milk") }
  }
}
