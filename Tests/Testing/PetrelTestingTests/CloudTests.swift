import CloudKit
import Foundation
import PetrelTesting
import Testing
import Waiting

struct CloudTests {
  @Test("a record that one device saves is there for another")
  func saves() async throws {
    let cloud = try await TestCloud()
    let phone = cloud.container(user: "anna", device: "iphone")
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
    record["title"] = "Milk"
    try await phone.privateCloudDatabase.save(record)
    let tablet = cloud.container(user: "anna", device: "ipad")
    let found = try await tablet.privateCloudDatabase.record(for: record.recordID)
    #expect(found["title"] == "Milk")
  }

  @Test("the same name is the same user, on each device and in each call")
  func users() async throws {
    let cloud = try await TestCloud()
    let anna = try await cloud.container(user: "anna", device: "iphone").userRecordID()
    let again = try await cloud.container(user: "anna", device: "iphone").userRecordID()
    let elsewhere = try await cloud.container(user: "anna", device: "ipad").userRecordID()
    let ben = try await cloud.container(user: "ben", device: "iphone").userRecordID()
    #expect(anna == again && anna == elsewhere)
    #expect(anna != ben)
  }

  @Test("private databases are each user's own, the public one is everyone's")
  func databases() async throws {
    let cloud = try await TestCloud()
    let anna = cloud.container(user: "anna")
    let ben = cloud.container(user: "ben")
    let recordID = CKRecord.ID(recordName: "r")
    for scope in [CKDatabase.Scope.private, .public] {
      try await anna.database(with: scope).save(
        CKRecord(recordType: "Note", recordID: recordID))
    }
    #expect(try await ben.publicCloudDatabase.record(for: recordID).recordID == recordID)
    await #expect(throws: CKError.self) {
      try await ben.privateCloudDatabase.record(for: recordID)
    }
  }

  @Test("containers of different identifiers share nothing but the users")
  func containers() async throws {
    let cloud = try await TestCloud()
    let notes = cloud.container(user: "anna", identifier: "iCloud.org.example.notes")
    let tasks = cloud.container(user: "anna", identifier: "iCloud.org.example.tasks")
    let recordID = CKRecord.ID(recordName: "r")
    try await notes.privateCloudDatabase.save(
      CKRecord(recordType: "Note", recordID: recordID))
    #expect(notes.containerIdentifier == "iCloud.org.example.notes")
    #expect(try await notes.userRecordID() == tasks.userRecordID())
    await #expect(throws: CKError.self) {
      try await tasks.privateCloudDatabase.record(for: recordID)
    }
  }

  @Test("where nobody is signed in there is no account")
  func signedOut() async throws {
    let cloud = try await TestCloud()
    let container = cloud.container(user: nil)
    #expect(try await container.accountStatus() == .noAccount)
    let error = await #expect(throws: CKError.self) {
      try await container.privateCloudDatabase.save(CKRecord(recordType: "Note"))
    }
    #expect(error?.code == .notAuthenticated)
    #expect(try await cloud.container(user: "anna").accountStatus() == .available)
  }

  @Test("clouds know nothing of each other")
  func separate() async throws {
    let first = try await TestCloud()
    let second = try await TestCloud()
    let recordID = CKRecord.ID(recordName: "r")
    try await first.container(user: "anna").privateCloudDatabase.save(
      CKRecord(recordType: "Note", recordID: recordID))
    await #expect(throws: CKError.self) {
      try await second.container(user: "anna").privateCloudDatabase.record(for: recordID)
    }
  }

  @Test("a container keeps its cloud alive")
  func containerOutlivesCloud() async throws {
    let container = try await TestCloud().container(user: "anna")
    let saved = try await container.privateCloudDatabase.save(CKRecord(recordType: "Note"))
    let found = try await container.privateCloudDatabase.record(for: saved.recordID)
    #expect(found.recordID == saved.recordID)
  }

  @Test("a cloud ends with the last reference to it and its containers")
  func ends() async throws {
    weak var cloud: TestCloud?
    do {
      let started = try await TestCloud()
      cloud = started
      try await started.container(user: "anna").privateCloudDatabase
        .save(CKRecord(recordType: "Note"))
      await started.settle()
    }
    // The operation that brought the last answer may not have ended yet.
    try await eventually("the cloud is gone") { cloud == nil }
  }

  @Test("a cloud that was stopped is out of reach")
  func stopped() async throws {
    let cloud = try await TestCloud()
    let container = cloud.container(user: "anna")
    try await container.privateCloudDatabase.save(CKRecord(recordType: "Note"))
    await cloud.stop()
    let error = await #expect(throws: CKError.self) {
      try await container.privateCloudDatabase.save(CKRecord(recordType: "Note"))
    }
    #expect(error?.code == .networkFailure)
    await cloud.settle()
    await cloud.stop()
  }

  @Test("a hundred clouds work side by side")
  func many() async throws {
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<100 {
        group.addTask {
          let cloud = try await TestCloud()
          let phone = cloud.container(user: "anna", device: "iphone").privateCloudDatabase
          let tablet = cloud.container(user: "anna", device: "ipad").privateCloudDatabase
          try await tablet.save(Self.subscription)
          for _ in 0...number % 3 { try await phone.save(CKRecord(recordType: "Note")) }
          let pushes = await cloud.pushes(to: "anna", device: "ipad")
          return pushes.count - number % 3
        }
      }
      return try await group.reduce(into: [Int]()) { $0.append($1) }
    }
    #expect(counts == Array(repeating: 1, count: 100))
  }

  @Test("a cloud answers code that blocks every thread of Swift's pool")
  func blockedPool() async throws {
    let cloud = try await TestCloud()
    let database = cloud.container(user: "anna").privateCloudDatabase
    let count = ProcessInfo.processInfo.activeProcessorCount * 4
    let saved = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<count {
        group.addTask {
          Self.saveBlocking(in: database)
          return true
        }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(saved == count)
    let found = try await database.records(
      matching: CKQuery(recordType: "Note", predicate: NSPredicate(value: true)))
    #expect(found.matchResults.count == count)
  }

  private static func saveBlocking(in database: CKDatabase) {
    let operation = CKModifyRecordsOperation(recordsToSave: [CKRecord(recordType: "Note")])
    operation.qualityOfService = .userInitiated
    database.add(operation)
    operation.waitUntilFinished()
  }

  static var subscription: CKQuerySubscription {
    let subscription = CKQuerySubscription(
      recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "notes",
      options: [.firesOnRecordCreation, .firesOnRecordUpdate])
    let info = CKSubscription.NotificationInfo()
    info.alertBody = "A note"
    subscription.notificationInfo = info
    return subscription
  }
}
