import CloudKitModel
import Explanation
import StoreModel

/// An explanation with the names of the accounts and keys that it mentions.
struct Named<Explanation: Sendable>: Sendable {
  var explanation: Explanation
  var users: [String: String]
  /// The labels of admin keys and server-to-server keys. Each is stored under the user record name
  /// of the changes that the key makes.
  var keys: [String: String]

  /// Returns the shape of an explanation with the members `users` and `keys`, if they are not
  /// empty.
  static func shape(_ name: String, _ shape: AnswerShape<Explanation>) -> AnswerShape<Self> {
    AnswerShape<Self>(name) { named in
      named.members(of: shape) { $0.explanation }
      named.map("users", isOptional: true) { $0.users }
      named.map("keys", isOptional: true) { $0.keys }
    }
  }
}

/// An explanation that mentions users: subscribers, and users who changed records.
protocol NamingUsers: Sendable {
  var mentionedUsers: Set<String> { get }
}

extension RecordExplanation: NamingUsers {
  var mentionedUsers: Set<String> {
    changes.reduce(into: []) { users, explained in
      if let user = explained.change.userRecordName { users.insert(user) }
      users.formUnion(explained.notifications.map(\.entry.notification.subscriber))
      users.formUnion(explained.silent.map(\.subscriber))
    }
  }
}

extension ExplainedSubscription: NamingUsers {
  var mentionedUsers: Set<String> {
    Set(explanation.firings.map(\.entry.notification.subscriber)).union([name.subscriber])
  }
}

extension RecordDryRun: NamingUsers {
  var mentionedUsers: Set<String> {
    Set(firing.map(\.subscriber)).union(silent.map(\.subscriber))
  }
}

extension SubscriptionDryRun: NamingUsers {
  var mentionedUsers: Set<String> { [] }
}
