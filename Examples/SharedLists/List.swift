import CloudKit

/// A list: its root record, the items below it, and its share.
struct List {
  static let recordType = "List"

  /// An item of a list.
  struct Item {
    static let recordType = "Item"
    let record: CKRecord
    let database: CKDatabase

    var text: String { record["text"] ?? "" }
    var isDone: Bool { record["isDone"] ?? false }
  }

  /// The private database for a list of the user's own, the shared database for one of another
  /// user.
  let database: CKDatabase
  let root: CKRecord
  /// The items in the order of their texts.
  let items: [Item]
  /// Nil if the list is not shared.
  let share: CKShare?

  var title: String { root["title"] ?? "" }
  var isOwn: Bool { database.databaseScope == .private }

  /// Returns the item with this text.
  func item(_ text: String) throws -> Item {
    guard let item = items.first(where: { $0.text == text }) else {
      throw ListError(text: "'\(title)' has no item '\(text)'")
    }
    return item
  }

  /// The list as the program prints it: the title with those who share it, then the items.
  var text: String {
    let lines = items.map { "  [\($0.isDone ? "x" : " ")] \($0.text)" }
    return ([title + people] + lines).joined(separator: "\n")
  }

  /// The people with whom the list is shared, or its owner.
  private var people: String {
    guard let share else { return "" }
    guard isOwn else { return ", a list of \(Self.name(of: share.owner))" }
    let others = share.participants.filter { $0.role != .owner }
    let names = others.map {
      Self.name(of: $0) + ($0.acceptanceStatus == .accepted ? "" : " (invited)")
    }
    return names.isEmpty ? "" : ", shared with " + names.sorted().joined(separator: ", ")
  }

  /// The name of a person, or the address by which the person was invited.
  private static func name(of participant: CKShare.Participant) -> String {
    let identity = participant.userIdentity
    let names = [identity.nameComponents?.givenName, identity.nameComponents?.familyName]
    let name = names.compactMap { $0 }.joined(separator: " ")
    return name.isEmpty ? identity.lookupInfo?.emailAddress ?? "another user" : name
  }
}
