import CloudKitModel
import Explanation
import Foundation
import PushChannels
import Storage
import StoreModel
import WebServices

/// The endpoints `explain/…`. Two of them say why notifications came or did not come. The others
/// run a dry run: they say which subscriptions would fire, and save nothing.
///
/// Two examples: the notifications of a record's last changes, and the subscriptions that a new
/// record would fire.
///
///     GET explain/record?container=iCloud.com.example.app&recordName=quake-1
///
///     POST explain/dry-run/record
///     { "container": "iCloud.com.example.app", "event": "create",
///       "record": { "recordName": "quake-2", "recordType": "Quake",
///                   "fields": { "magnitude": { "value": 6.1 } } } }
struct AdminExplainEndpoints: AdminEndpoints {
  /// The maximum number of subscriptions that a server examines for one request: for the
  /// explanations of all changes together, or for a dry run of a record.
  static let subscriptionsLookedAt = 2_000
  /// The maximum number of changes with which a server tests a subscription for one request.
  static let changesTried = 2_000

  let store: Store
  let accounts: AccountService
  let adminAccess: AdminAccessService
  let credentials: CredentialService
  let databases: AdminDatabases
  /// The subscription index of the dispatcher; nil if this process dispatches nothing.
  let index: Explainer.Index?
  /// The check of the present configuration for a way to a device.
  let lackOfRoute: Explainer.RouteCheck
  /// Whether ``subscriptionsLookedAt`` and ``changesTried`` apply. They protect the other clients
  /// of a server. For a command that reads a store itself, the defaults of `Explainer.Limits`
  /// apply: at most 10,000 subscriptions for an explanation, and no limit for a dry run.
  let isBounded: Bool

  /// The argument `limit`. Its range is 1–1,000 here, and 1–200 in other lists.
  private static let limit = AdminArgument(
    "limit", .integer(1...1_000), "changes or firings at most, 1 to 1000 (default 10)", "NUMBER")
  private static let before = AdminArgument(
    "before", .integer(0...Int.max), "only changes before the one with this sequence")
  private static let subscriber = AdminArgument.subscriber.described(
    as: "only subscriptions of this user: a name or a user record name")
  private static let zone: [AdminArgument] = [.zone, .zoneOwner, .recordName.needed]
  /// The arguments that restrict an answer to one subscriber, to one subscription ID, or to a
  /// number of changes. Several subscribers may have subscriptions with the same ID.
  private static let question: [AdminArgument] = [subscriber, .subscriptionID, limit]

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "explain/record",
      AdminArgument.ofDatabase + Self.zone + Self.question + [Self.before],
      "A record's latest changes, the pushes that they caused, and why others did not come",
      answers: Named.shape("RecordExplanation", RecordExplanation.shape), Self.record),
    .get(
      "explain/subscription",
      AdminArgument.ofDatabase + [.subscriber, .subscriptionID.needed, Self.limit],
      "A subscription's latest firings, and the counts of recent changes by its result",
      answers: Named.shape("SubscriptionExplanation", ExplainedSubscription.shape),
      Self.subscription),
    .post(
      "explain/dry-run/record",
      AdminArgument.ofDatabase + [
        .record.needed, .event, .subscriber, .subscriptionID, .continuation,
      ],
      changes: false, "Which subscriptions a record would fire; nothing is saved",
      answers: Named.shape("RecordDryRun", RecordDryRun.shape), Self.recordDryRun),
    .post(
      "explain/dry-run/subscription",
      AdminArgument.ofDatabase + [
        .subscription.needed, .predicate, .subscriber, Self.limit, Self.before,
      ], changes: false, "Which recent changes would have fired a subscription",
      answers: Named.shape("SubscriptionDryRun", SubscriptionDryRun.shape), Self.subscriptionDryRun),
  ]

  private func record(_ request: AdminRequest) async throws -> Named<RecordExplanation> {
    let arguments = request.arguments
    let (database, address) = try await databases.existing(arguments)
    // Only a shared database contains zones of other users.
    let owner = address.scope == .shared ? arguments.text(.zoneOwner) : nil
    let zoneID = ZoneID(
      zoneName: arguments.text(.zone) ?? ZoneID.defaultZoneName,
      ownerName: owner ?? ZoneID.currentOwnerName)
    let recordID = RecordID(recordName: try arguments.required(.recordName), zoneID: zoneID)
    return try await named(
      try await explainer(arguments).explain(
        recordID, in: database, about: question(arguments), before: before(arguments)))
  }

  /// Throws `BAD_REQUEST` in the public database if `subscriber` is missing.
  private func subscription(_ request: AdminRequest) async throws -> Named<ExplainedSubscription> {
    let arguments = request.arguments
    let (database, address) = try await databases.existing(arguments)
    let subscriptionID = try arguments.required(.subscriptionID)
    guard let subscriber = try await question(arguments).subscriber ?? address.owner else {
      throw arguments.mistake(.subscriber, "is missing; name the user whose subscription it is")
    }
    let name = SubscriptionName(subscriber: subscriber, subscriptionID: subscriptionID)
    return try await named(
      ExplainedSubscription(
        name: name, explanation: try await explainer(arguments).explain(name, in: database)))
  }

  private func recordDryRun(_ request: AdminRequest) async throws -> Named<RecordDryRun> {
    let arguments = request.arguments
    let (database, _) = try await databases.existing(arguments)
    let record: Record = try arguments.part(.record)
    guard !record.recordType.isEmpty else {
      throw arguments.mistake(.record, "has no recordType")
    }
    try arguments.check(.record) { () throws(ModelError) in
      try record.recordID.validate()
      try record.validate()
    }
    let event: ProposedEvent = arguments.word(.event) ?? .create
    let last = try AdminContinuation.parts(arguments, count: 2).map {
      SubscriptionName(subscriber: $0[0], subscriptionID: $0[1])
    }
    return try await named(
      try await explainer(arguments).dryRun(
        Change(
          event: event.changeEvent, zoneID: record.recordID.zoneID, record: record,
          notificationID: UUID(), timestamp: request.now), in: database,
        about: question(arguments), after: last))
  }

  private func subscriptionDryRun(
    _ request: AdminRequest
  ) async throws -> Named<SubscriptionDryRun> {
    let arguments = request.arguments
    let (database, address) = try await databases.existing(arguments)
    let proposed: Subscription = try arguments.part(.subscription)
    let subscriber = try await question(arguments).subscriber ?? address.owner ?? ""
    try arguments.check(.subscription) { () throws(ModelError) in
      try proposed.validate(of: subscriber, in: address)
    }
    let subscription = try AdminSubscriptionsEndpoints.subscription(
      proposed, withPredicateOf: arguments, of: subscriber, in: address)
    return try await named(
      try await explainer(arguments).dryRun(
        subscription, of: subscriber, in: database,
        before: before(arguments)))
  }

  // MARK: Arguments

  private func explainer(_ arguments: AdminArguments) -> Explainer {
    var limits = Explainer.Limits()
    limits.changes = arguments.int(Self.limit) ?? limits.changes
    if isBounded {
      limits.subscriptionsLookedAt = Self.subscriptionsLookedAt
      limits.subscriptionsTried = Self.subscriptionsLookedAt
      limits.changesTried = Self.changesTried
    }
    return Explainer(
      store: store, limits: limits, index: index, lackOfRoute: lackOfRoute)
  }

  /// Only changes with a smaller sequence number are examined; nil sets no limit.
  private func before(_ arguments: AdminArguments) -> Int64? {
    arguments.int(Self.before).map { Int64($0) }
  }

  private func question(_ arguments: AdminArguments) async throws -> Explainer.Question {
    var question = Explainer.Question(subscriptionID: arguments.text(.subscriptionID))
    if let user = arguments.text(.subscriber) {
      question.subscriber = try await databases.userRecordName(user, of: .subscriber, arguments)
    }
    return question
  }

  // MARK: Names

  private func named<Explanation: NamingUsers>(
    _ explanation: Explanation
  ) async throws -> Named<Explanation> {
    let mentioned = explanation.mentionedUsers
    let users = try await accounts.userNames(of: mentioned)
    return Named(
      explanation: explanation, users: users,
      keys: try await keyNames(of: mentioned.subtracting(users.keys)))
  }

  /// Returns the labels of admin and server-to-server keys by user record name.
  private func keyNames(of userRecordNames: Set<String>) async throws -> [String: String] {
    guard !userRecordNames.isEmpty else { return [:] }
    var names: [String: String] = [:]
    for key in try await adminAccess.adminKeys() {
      names[AdminIdentity(key: key).userRecordName] = key.label
    }
    for key in try await credentials.programCredentials().serverKeys {
      names[key.userRecordName] = key.name
    }
    return names.filter { userRecordNames.contains($0.key) }
  }
}

/// The kind of a proposed change of a record.
enum ProposedEvent: String, CaseIterable {
  case create, update, delete

  fileprivate var changeEvent: ChangeEvent {
    switch self {
    case .create: .recordCreated
    case .update: .recordUpdated
    case .delete: .recordDeleted
    }
  }
}
