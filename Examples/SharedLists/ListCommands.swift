import CloudKit

/// The commands of the program, for one user.
struct ListCommands: Sendable {
  static let usage = """
    the commands are
      create LIST           make a list
      show                  print all lists, your own and those of others
      add LIST ITEM         add an item to a list
      tick LIST ITEM        mark an item as done
      remove LIST ITEM      remove an item
      share LIST ADDRESS    invite a person by e-mail address, and print the URL for them
      accept URL            join a list
      leave LIST            leave a list of another user
      stop LIST             end the sharing of your list
      watch                 print each list that changes, until the program is stopped
    """

  /// The user's container.
  var container: CKContainer
  /// The folder of the copies of the lists, one file for each user.
  var folder: URL
  /// Prints one or more lines.
  var output: @Sendable (String) -> Void

  /// Runs one command.
  ///
  /// - Parameter words: The name of the command and its arguments.
  /// - Throws: `ListError` for unknown words, lists and items; `CKError` as CloudKit throws it.
  func run(_ words: [String]) async throws {
    func word(_ index: Int) -> String? { words.indices.contains(index) ? words[index] : nil }
    let user = try await container.userRecordID().recordName
    let lists = try ListStore(
      container: container, file: folder.appendingPathComponent("\(user).json"))
    switch (word(0), word(1), word(2), word(3)) {
    case ("create", let title?, nil, nil):
      try await lists.create(title)
    case ("show", nil, nil, nil):
      try await lists.refresh()
      let texts = lists.all.map(\.text)
      output(texts.isEmpty ? "no lists" : texts.joined(separator: "\n"))
    case ("add", let title?, let item?, nil):
      try await lists.add(item, to: try await lists.list(title))
    case ("tick", let title?, let item?, nil):
      try await lists.tick(try await lists.list(title).item(item))
    case ("remove", let title?, let item?, nil):
      try await lists.remove(try await lists.list(title).item(item))
    case ("share", let title?, let address?, nil):
      output(try await lists.share(try await lists.list(title), with: address).absoluteString)
    case ("accept", let text?, nil, nil):
      guard let url = URL(string: text) else { throw ListError(text: "'\(text)' is not a URL") }
      try await lists.open(url)
    case ("leave", let title?, nil, nil):
      try await lists.leave(try await lists.list(title))
    case ("stop", let title?, nil, nil):
      try await lists.stopSharing(try await lists.list(title))
    case ("watch", nil, nil, nil):
      try await watch(lists)
    default:
      throw ListError(text: Self.usage)
    }
  }

  /// Prints the lists that change, until the task is cancelled.
  ///
  /// An app on an Apple device gets each `userInfo` in
  /// `application(_:didReceiveRemoteNotification:fetchCompletionHandler:)`. A program on Linux reads
  /// them from `remoteNotifications()`, which is an addition of Petrel.
  private func watch(_ lists: ListStore) async throws {
    let notifications = container.remoteNotifications()
    // A change after these two lines sends a notification. The refresh reads all earlier changes.
    try await notifications.register()
    try await lists.subscribe()
    try await lists.refresh()
    output("watching \(lists.all.count) lists")
    for try await userInfo in notifications {
      let before = lists.all.map(\.text)
      try await lists.didReceiveRemoteNotification(userInfo)
      let after = lists.all.map(\.text)
      for text in after where !before.contains(text) { output(text) }
      if after.count < before.count { output("watching \(after.count) lists") }
    }
  }
}
