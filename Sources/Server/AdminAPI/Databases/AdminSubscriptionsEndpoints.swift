import CloudKitModel
import Foundation
import JSONCoding
import PredicateLanguage
import PushChannels
import Storage
import StoreModel
import WebServices

/// The endpoints `subscriptions…`, which list, save and delete the subscriptions of any user in any
/// database.
///
/// A request that saves a subscription to large quakes. The predicate replaces the filters of the
/// subscription's query:
///
///     POST subscriptions/save
///     { "container": "iCloud.com.example.app", "subscriber": "alice",
///       "subscription": { "subscriptionID": "large-quakes", "subscriptionType": "query",
///                         "query": { "recordType": "Quake" }, "firesOn": ["create"] },
///       "predicate": "magnitude >= 6" }
///
/// In a private or shared database the owner is the subscriber, and `subscriber` has no effect.
struct AdminSubscriptionsEndpoints: AdminEndpoints {
  let accounts: AccountService
  let administration: AdministrationService
  let subscriptions: SubscriptionService
  let databases: AdminDatabases

  private static let recordType = AdminArgument.recordType.described(
    as: "only those for this record type")
  private static let text = AdminArgument(
    "text", .text, "only those that have this in the ID, subscriber, predicate or alert")

  static let endpoints: [AdminHandler<Self>] = [
    .get(
      "subscriptions",
      AdminArgument.ofDatabase + [
        .subscriber, .subscriptionID, recordType, text, .limit, .continuation,
      ], "Subscriptions with their owners and predicates",
      answers: .page("subscriptions", of: Self.listed), Self.list),
    .post(
      "subscriptions/save",
      AdminArgument.ofDatabase + [.subscriber, .subscription.needed, .predicate],
      "Saves a subscription; a predicate replaces its filters",
      answers: .member("subscription"), Self.save),
    .post(
      "subscriptions/delete",
      AdminArgument.ofDatabase + [.subscriber, .subscriptionID.needed], "Deletes a subscription",
      answers: .member("deleted"), Self.delete),
  ]

  /// The name is nil if the subscriber has no account.
  private typealias Listed = (stored: StoredSubscription, userName: String?)

  private static let listed = AnswerShape<Listed>("SubscriptionEntry") { listed in
    listed.member("subscriber") { $0.stored.subscriber }
    listed.optional("userName") { $0.userName }
    listed.optional("predicate") { $0.stored.subscription.predicate }
    listed.member("subscription") {
      OwnedSubscription(subscription: $0.stored.subscription, subscriber: $0.stored.subscriber)
    }
  }

  /// Returns a page of subscriptions, ordered by subscriber and subscription ID. One request
  /// examines a limited number of subscriptions, so a page can have a continuation although it has
  /// fewer rows than `limit`.
  private func list(_ request: AdminRequest) async throws -> AdminPage<Listed> {
    let arguments = request.arguments
    let address = try await databases.address(arguments)
    var subscriber = address.owner
    if subscriber == nil, let name = arguments.text(.subscriber) {
      subscriber = try await databases.userRecordName(name, of: .subscriber, arguments)
    }
    let last = try AdminContinuation.parts(arguments, count: 2).map {
      SubscriptionName(subscriber: $0[0], subscriptionID: $0[1])
    }
    let subscriptionID = arguments.text(.subscriptionID)
    let recordType = arguments.text(Self.recordType)
    let text = arguments.text(Self.text)?.lowercased()
    guard let database = try await databases.store.existingDatabase(at: address) else {
      return AdminPage()
    }
    let page = try await administration.subscriptions(
      in: database, of: subscriber, after: last, limit: arguments.limit
    ) { stored in
      if let subscriptionID, stored.subscription.subscriptionID != subscriptionID { return false }
      if let recordType, stored.subscription.recordType != recordType { return false }
      guard let text else { return true }
      return stored.searchText.lowercased().contains(text)
    }
    let names = try await accounts.userNames(of: Set(page.found.map(\.subscriber)))
    return AdminPage(
      elements: page.found.map { ($0, names[$0.subscriber]) },
      continuation: page.next.map {
        AdminContinuation.text([$0.subscriber, $0.subscriptionID])
      })
  }

  /// Saves a subscription, and creates its database if necessary.
  private func save(_ request: AdminRequest) async throws -> OwnedSubscription {
    let arguments = request.arguments
    let subscriber = try await subscriber(arguments)
    let saved: Subscription = try arguments.part(
      .subscription, ownerNaming: .relative(to: subscriber))
    let address = try await databases.address(arguments)
    let subscription = try Self.subscription(
      saved, withPredicateOf: arguments, of: subscriber, in: address)
    // The first subscription in a database creates the database, as an app's request does.
    let outcome = try await apply(
      .save(subscription), of: subscriber,
      in: try await databases.store.database(at: address), at: request.now)
    guard case .saved(let subscription, let replaced) = outcome else { throw Self.noOutcome }
    return OwnedSubscription(
      subscription: subscription, subscriber: subscriber, replaced: replaced)
  }

  /// Returns the subscription with the filters of the argument `predicate` in place of its own.
  /// Without this argument, the subscription is returned unchanged.
  static func subscription(
    _ subscription: Subscription, withPredicateOf arguments: AdminArguments, of subscriber: String,
    in address: DatabaseAddress
  ) throws -> Subscription {
    var subscription = subscription
    if let format = arguments.text(.predicate) {
      let filters = try AdminRecordsEndpoints.filters(format, arguments, now: nil)
      guard case .query(var query, let zoneID, let options) = subscription.kind else {
        throw arguments.mistake(.predicate, "is for a query subscription only")
      }
      query.filters = filters
      subscription.kind = .query(query, zoneID: zoneID, options: options)
    }
    try subscription.validate(of: subscriber, in: address)
    return subscription
  }

  /// Deletes a subscription and returns its ID.
  private func delete(_ request: AdminRequest) async throws -> String {
    let subscriber = try await subscriber(request.arguments)
    let subscriptionID = try request.arguments.required(.subscriptionID)
    let (database, _) = try await databases.existing(request.arguments)
    let outcome = try await apply(
      .delete(subscriptionID: subscriptionID), of: subscriber, in: database, at: request.now)
    guard case .deleted(let subscriptionID) = outcome else { throw Self.noOutcome }
    return subscriptionID
  }

  /// In a private or shared database, the owner is the subscriber. The public one needs
  /// `subscriber`.
  private func subscriber(_ arguments: AdminArguments) async throws -> String {
    if let owner = try await databases.address(arguments).owner { return owner }
    return try await databases.userRecordName(
      try arguments.required(.subscriber), of: .subscriber, arguments)
  }

  /// A store that returns no outcome, or that of another operation, is a defect of Petrel.
  private static let noOutcome = ServiceError(
    .internalError, "the store returned no result for the operation")

  private func apply(
    _ operation: SubscriptionOperation, of subscriber: String, in database: DatabaseID,
    at now: Timestamp
  ) async throws -> SubscriptionOutcome? {
    let outcome = try await subscriptions.modifySubscriptions(
      [operation], of: subscriber, in: database, timestamp: now
    ).first
    if case .failed(_, let failure) = outcome { throw ServiceError(failure) }
    return outcome
  }
}

/// A subscription with its subscriber, as a part of an answer. The subscriber's own zones appear in
/// the answer with the subscriber's user record name as their owner.
struct OwnedSubscription: MessagePart {
  var subscription: Subscription
  var subscriber: String
  /// The kind of the replaced subscription; nil unless this subscription replaced one of another
  /// kind.
  var replaced: Subscription.KindName?
}

extension OwnedSubscription {
  init(_ reader: MessageReader) throws(ServiceError) {
    self.init(subscription: try Subscription(reader), subscriber: ZoneID.currentOwnerName)
  }

  func write(to writer: inout JSONWriter, context: MessageContext) {
    subscription.write(
      to: &writer, context: MessageContext(ownerNaming: .relative(to: subscriber)),
      replaced: replaced)
  }

  static func schema(in scope: SchemaScope) -> JSONSchema { Subscription.schema(in: scope) }
}

extension Subscription {
  var recordType: String? {
    switch kind {
    case .query(let query, _, _): query.recordType
    case .recordZone(_, let recordType), .database(let recordType): recordType
    }
  }

  var predicate: String? {
    guard case .query(let query, _, _) = kind else { return nil }
    return PredicatePrinter.text(PredicateNode(query.filters))
  }
}

extension StoredSubscription {
  fileprivate var searchText: String {
    [
      subscription.subscriptionID, subscriber, subscription.recordType ?? "",
      subscription.predicate ?? "", subscription.notificationInfo?.alertBody ?? "",
    ].joined(separator: "\n")
  }
}
