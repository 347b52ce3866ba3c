import CloudKitModel
import Explanation
import StoreModel

/// An explanation, and what the accounts and keys in it are called.
struct Named<Explanation: Sendable>: Sendable {
  var explanation: Explanation
  /// The names of accounts by their user record names.
  var users: [String: String]
  /// The labels of keys by the user record names under which they make changes.
  var keys: [String: String]

  /// - Parameter name: what the description calls it.
  static func shape(_ name: String, _ shape: AnswerShape<Explanation>) -> AnswerShape<Self> {
    AnswerShape<Self>(name) { named in
      named.members(of: shape) { $0.explanation }
      named.map("users", isOptional: true) { $0.users }
      named.map("keys", isOptional: true) { $0.keys }
    }
  }
}

/// What mentions users: whose subscriptions it is about, and who made changes.
protocol NamingUsers: Sendable {
  /// User record names.
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
