import CloudKit
import CloudKitModel
import DatabaseAPI
import Testing
import Waiting

/// The notification log, read with Petrel's own calls.
struct PetrelNotificationsTests {
  private func names(_ page: PetrelNotificationPage) -> [String] {
    page.notifications.map {
      ($0 as? CKQueryNotification)?.recordID?.recordName ?? "\($0.notificationType.rawValue)"
    }
  }

  private func save(_ names: [String], in database: CKDatabase) async throws {
    for start in stride(from: 0, to: names.count, by: 250) {
      let part = names[start..<min(start + 250, names.count)]
      try await database.modifyRecords(saving: part.map { CKRecord("Item", $0) }, deleting: [])
    }
  }

  private func awaitDispatch(in cloud: Cloud) async throws {
    let store = await cloud.store
    try await eventually("all is logged") { try await store.outbox.undispatchedDatabases().isEmpty }
  }

  @Test("One call reads all pages, and the next one what came since")
  func pages() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone")
      try await phone.privateCloudDatabase.subscribe(where: .all)
      let empty = try await phone.petrelNotifications(since: nil)
      #expect(empty.notifications.isEmpty && !empty.moreComing && !empty.isRestart)
      let first = (0..<450).map { "item-\($0)" }
      try await save(first, in: phone.privateCloudDatabase)
      try await awaitDispatch(in: cloud)
      for start in [nil, empty.token] {
        let whole = try await phone.petrelNotifications(since: start)
        #expect(names(whole) == first && !whole.moreComing && !whole.isRestart)
      }
      // A page has 200 at most, so this took three.
      var sizes: [Int] = []
      var token: CKServerChangeToken?
      for try await page in phone.petrelNotificationPages(since: nil) {
        sizes.append(page.notifications.count)
        #expect(page.moreComing == (sizes.count < 3))
        token = page.token
      }
      #expect(sizes == [200, 200, 50])

      let second = (0..<5).map { "late-\($0)" }
      try await save(second, in: phone.privateCloudDatabase)
      try await awaitDispatch(in: cloud)
      let news = try await phone.petrelNotifications(since: token)
      #expect(names(news) == second && !news.isRestart)
      #expect(try await phone.petrelNotifications(since: news.token).notifications.isEmpty)
    }
  }

  @Test("A limit ends the reading, and another call resumes it without loss or repetition")
  func limit() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone")
      try await phone.privateCloudDatabase.subscribe(where: .all)
      let saved = (0..<450).map { "item-\($0)" }
      try await save(saved, in: phone.privateCloudDatabase)
      try await awaitDispatch(in: cloud)
      let part = try await phone.petrelNotifications(since: nil, limit: 250)
      #expect(names(part) == Array(saved.prefix(250)) && part.moreComing)
      // As at the next launch of the program.
      let data = try NSKeyedArchiver.archivedData(
        withRootObject: part.token, requiringSecureCoding: true)
      let token = try NSKeyedUnarchiver.unarchivedObject(
        ofClass: CKServerChangeToken.self, from: data)
      let rest = try await phone.petrelNotifications(since: token)
      #expect(names(rest) == Array(saved.dropFirst(250)) && !rest.moreComing)
      let exact = try await phone.petrelNotifications(since: nil, limit: 450)
      #expect(names(exact) == saved && !exact.moreComing)
      for try await page in phone.petrelNotificationPages(since: nil) {
        token.map { #expect(page.token != $0) }
        let resumed = try await phone.petrelNotifications(since: page.token)
        #expect(names(resumed) == Array(saved.dropFirst(200)))
        break
      }
      let error = await #expect(throws: CKError.self) {
        try await phone.petrelNotifications(since: nil, limit: 0)
      }
      #expect(error?.code == .invalidArguments)
    }
  }

  @Test("An expired token begins the log anew, and the caller is told so, in both forms")
  func expiredToken() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone")
      try await phone.privateCloudDatabase.subscribe(where: .all)
      let early = try await phone.petrelNotifications(since: nil)
      try await save(["old"], in: phone.privateCloudDatabase)
      try await awaitDispatch(in: cloud)
      let store = await cloud.store
      try await store.maintenance.trim(at: Timestamp.now.advanced(bySeconds: 31 * 86_400))
      // By then the user's token has expired too.
      let user = try #require(try await store.accounts.user(named: "anna"))
      let later = await cloud.container(
        token: try await Account.makeToken(for: user, in: store.accounts, at: .now),
        device: "anna-phone")
      let saved = (0..<210).map { "new-\($0)" }
      try await save(saved, in: later.privateCloudDatabase)
      try await awaitDispatch(in: cloud)

      let restarted = try await later.petrelNotifications(since: early.token)
      #expect(names(restarted) == saved && restarted.isRestart && !restarted.moreComing)
      var restarts: [Bool] = []
      for try await page in later.petrelNotificationPages(since: early.token) {
        restarts.append(page.isRestart)
      }
      #expect(restarts == [true, false])
      let next = try await later.petrelNotifications(since: restarted.token)
      #expect(next.notifications.isEmpty && !next.isRestart)
    }
  }

  @Test("What was read is marked as read for all devices, whatever the log has of it")
  func marking() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.container(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop")
      // Two subscriptions on one change are two notifications with one ID.
      for id in ["a", "b"] {
        try await phone.privateCloudDatabase.subscribe(id, where: .all, info: .init(alertBody: id))
      }
      let saved = (0..<230).map { "item-\($0)" }
      try await save(saved, in: phone.privateCloudDatabase)
      try await awaitDispatch(in: cloud)
      let unmarked = try await phone.petrelNotifications(since: nil)
      #expect(Set(names(unmarked)) == Set(saved) && unmarked.notifications.count == 460)

      try await phone.petrelMarkRead(unmarked.notifications)
      let seen = try await laptop.petrelNotifications(since: nil)
      #expect(seen.notifications.allSatisfy { $0.notificationType == .readNotification })
      #expect(
        Set(seen.notifications.compactMap(\.notificationID))
          == Set(unmarked.notifications.compactMap(\.notificationID)))
      let own = try await phone.petrelNotifications(since: unmarked.token)
      #expect(own.notifications.allSatisfy { $0.notificationType == .readNotification })
      #expect(own.notifications.count == 230)
      // Those that are marked are passed over, and so are those that the log does not have.
      let store = await cloud.store
      try await phone.petrelMarkRead(unmarked.notifications + own.notifications)
      #expect(try await phone.petrelNotifications(since: own.token).notifications.isEmpty)
      try await save(["last"], in: phone.privateCloudDatabase)
      try await awaitDispatch(in: cloud)
      let last = try await phone.petrelNotifications(since: own.token)
      #expect(names(last) == ["last", "last"])
      try await store.maintenance.trim(at: Timestamp.now.advanced(bySeconds: 31 * 86_400))
      let user = try #require(try await store.accounts.user(named: "anna"))
      let later = await cloud.container(
        token: try await Account.makeToken(for: user, in: store.accounts, at: .now),
        device: "anna-phone")
      try await later.petrelMarkRead(last.notifications)
    }
  }
}
