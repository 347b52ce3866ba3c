import CloudKit

/// The lists that a user sees: the user's own, and those that others share with the user.
///
/// The object keeps a copy of them in a file. ``refresh()`` fetches only the changes since the last
/// time.
final class ListStore {
  /// The zone of the user's own lists.
  static let zoneID = CKRecordZone.ID(zoneName: "Lists")

  private let container: CKContainer
  private let file: URL
  private var copy: LocalCopy

  /// Reads the file; a missing file is an empty copy.
  init(container: CKContainer, file: URL) throws {
    self.container = container
    self.file = file
    copy = try LocalCopy(file)
  }

  /// All lists as of the last refresh, by their titles.
  var all: [List] {
    [CKDatabase.Scope.private, .shared]
      .flatMap { copy.lists(in: container.database(with: $0)) }
      .sorted { $0.title < $1.title }
  }

  /// Fetches what changed in both databases, and saves the copy.
  func refresh() async throws {
    for scope in [CKDatabase.Scope.private, .shared] { try await refresh(scope) }
  }

  private func refresh(_ scope: CKDatabase.Scope) async throws {
    var database = copy[scope]
    try await database.fetchChanges(from: container.database(with: scope))
    copy[scope] = database
    try copy.write(to: file)
  }

  /// Returns the list with this title, after a refresh. The name of its record selects it among
  /// lists of the same title.
  func list(_ title: String) async throws -> List {
    try await refresh()
    let found = all.filter { $0.title == title || $0.root.recordID.recordName == title }
    guard let list = found.first else { throw ListError(text: "there is no list '\(title)'") }
    guard found.count == 1 else {
      let names = found.map(\.root.recordID.recordName).joined(separator: ", ")
      throw ListError(text: "several lists are named '\(title)'; choose one of \(names)")
    }
    return list
  }

  // MARK: Lists and items

  /// Makes a list of the user's own.
  func create(_ title: String) async throws {
    let database = container.privateCloudDatabase
    // To save a zone that exists has no effect.
    try await database.save(CKRecordZone(zoneID: Self.zoneID))
    let root = CKRecord(
      recordType: List.recordType,
      recordID: CKRecord.ID(recordName: UUID().uuidString, zoneID: Self.zoneID))
    root["title"] = title
    try await database.save(root)
  }

  /// Adds an item. Its parent is the root record of the list, so all who see the list see the item.
  func add(_ text: String, to list: List) async throws {
    let item = CKRecord(
      recordType: List.Item.recordType,
      recordID: CKRecord.ID(recordName: UUID().uuidString, zoneID: list.root.recordID.zoneID))
    item["text"] = text
    item["isDone"] = false
    item.setParent(list.root)
    try await list.database.save(item)
  }

  /// Marks an item as done. If another user has changed the item meanwhile, marks the changed item.
  func tick(_ item: List.Item) async throws {
    var record = item.record
    while true {
      record["isDone"] = true
      do {
        try await item.database.save(record)
        return
      } catch let error as CKError where error.code == .serverRecordChanged {
        guard let newer = error.serverRecord else { throw error }
        record = newer
      }
    }
  }

  /// Removes an item.
  func remove(_ item: List.Item) async throws {
    try await item.database.deleteRecord(withID: item.record.recordID)
  }

  // MARK: Sharing

  /// Invites a person to read and change a list.
  ///
  /// - Returns: The URL of the share, which the app brings to the person.
  func share(_ list: List, with address: String) async throws -> URL {
    guard list.isOwn else {
      throw ListError(text: "'\(list.title)' is a list of another user, who alone can share it")
    }
    let share = list.share ?? CKShare(rootRecord: list.root)
    share[CKShare.SystemFieldKey.title] = list.title
    let participant = try await container.shareParticipant(forEmailAddress: address)
    participant.permission = .readWrite
    share.addParticipant(participant)
    let (saved, _) = try await list.database.modifyRecords(
      saving: [list.root, share], deleting: [])
    guard let shared = try saved[share.recordID]?.get() as? CKShare, let url = shared.url else {
      throw ListError(text: "the server has saved the share without a URL")
    }
    return url
  }

  /// Opens the URL of a share. On an Apple device the system does this when the user taps the URL,
  /// and then calls the app.
  func open(_ url: URL) async throws {
    try await userDidAcceptCloudKitShareWith(try await container.shareMetadata(for: url))
  }

  /// Joins a list. An app calls this from its delegate's method of the same name.
  func userDidAcceptCloudKitShareWith(_ metadata: CKShare.Metadata) async throws {
    try await container.accept(metadata)
  }

  /// Leaves a list of another user. A participant who deletes the share leaves it.
  func leave(_ list: List) async throws {
    guard !list.isOwn, let share = list.share else {
      throw ListError(text: "'\(list.title)' is your own list")
    }
    try await list.database.deleteRecord(withID: share.recordID)
  }

  /// Ends the sharing of a list. An owner who deletes the share ends it for all.
  func stopSharing(_ list: List) async throws {
    guard list.isOwn, let share = list.share else {
      throw ListError(text: "'\(list.title)' is not a list that you share")
    }
    try await list.database.deleteRecord(withID: share.recordID)
  }

  // MARK: Notifications

  /// Subscribes to all changes of both databases, with silent pushes.
  func subscribe() async throws {
    for scope in [CKDatabase.Scope.private, .shared] {
      let subscription = CKDatabaseSubscription(subscriptionID: "all-lists")
      subscription.notificationInfo = CKSubscription.NotificationInfo(
        shouldSendContentAvailable: true)
      try await container.database(with: scope).save(subscription)
    }
  }

  /// Fetches the changes that a notification announces.
  func didReceiveRemoteNotification(_ userInfo: [AnyHashable: Any]) async throws {
    let notification = CKNotification(fromRemoteNotificationDictionary: userInfo)
    guard let notification = notification as? CKDatabaseNotification else { return }
    try await refresh(notification.databaseScope)
  }
}
