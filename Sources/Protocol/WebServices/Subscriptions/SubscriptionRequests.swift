import CloudKitModel
import JSONCoding

/// The body of `subscriptions/modify`. The operations are independent: a failure does not undo the
/// other operations.
///
/// ```
/// { "operations": [ { "operationType": "delete",
///                     "subscription": { "subscriptionID": "new-art" } } ] }
/// ```
public struct ModifySubscriptionsRequest: Sendable {
  /// The operations, in the order of the request. An operation that could not be read is a failed
  /// item.
  public var operations: [Result<SubscriptionOperation, FailedItem>]

  /// Creates a request.
  public init(operations: [SubscriptionOperation]) {
    self.operations = operations.map { .success($0) }
  }
}

extension ModifySubscriptionsRequest: Message, MessageObject {
  package static let blank = ModifySubscriptionsRequest(operations: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.operations("operations", &operations, of: .subscription)
  }
}

extension SubscriptionOperation: MessagePart {
  /// The names of the operations on the wire.
  private enum Name: String, CaseIterable, MessagePart {
    case create, update, delete
  }

  /// Reads an operation. `create` and `update` both save, because CloudKit replaces a subscription
  /// that is saved again with the same ID.
  package init(_ reader: MessageReader) throws(ServiceError) {
    let subscription = try reader.member("subscription")
    switch try Name(reader.member("operationType")) {
    case .create, .update: self = .save(try Subscription(subscription))
    case .delete:
      self = .delete(subscriptionID: try subscription.member("subscriptionID").string())
    }
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      switch self {
      case .save(let subscription):
        writer.member("operationType", Name.create.rawValue)
        writer.key("subscription")
        subscription.write(to: &writer, context: context)
      case .delete(let subscriptionID):
        writer.member("operationType", Name.delete.rawValue)
        writer.key("subscription")
        writer.object { $0.member("subscriptionID", subscriptionID) }
      }
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    .object(
      [
        "operationType": Name.schema(in: scope).described(
          "`create` and `update` both save the subscription, and replace one with the same ID."),
        "subscription": Subscription.schema(in: scope),
      ], isOpen: true)
  }
}

/// The body of `subscriptions/lookup`: it asks for subscriptions by their IDs.
///
/// ```
/// { "subscriptions": [ { "subscriptionID": "new-art" } ] }
/// ```
public struct LookupSubscriptionsRequest: Sendable {
  /// The IDs, in the order of the answer.
  public var subscriptionIDs: [String]

  /// Creates a request.
  public init(subscriptionIDs: [String]) {
    self.subscriptionIDs = subscriptionIDs
  }
}

extension LookupSubscriptionsRequest: Message, MessageObject {
  package static let blank = LookupSubscriptionsRequest(subscriptionIDs: [])

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    var subscriptions = subscriptionIDs.map { SoughtSubscription(subscriptionID: $0) }
    try coder.list(
      "subscriptions", &subscriptions, count: 0...ServiceLimits.operationsPerRequest)
    subscriptionIDs = subscriptions.map(\.subscriptionID)
  }

  /// A subscription in a request: an object with its ID, or the bare ID that OpenCloudKit sends.
  private struct SoughtSubscription: MessagePart {
    var subscriptionID: String

    init(subscriptionID: String) { self.subscriptionID = subscriptionID }

    init(_ reader: MessageReader) throws(ServiceError) {
      let place = reader.node.string == nil ? try reader.member("subscriptionID") : reader
      subscriptionID = try place.string()
    }

    func write(to writer: inout JSONWriter, context: MessageContext) {
      writer.object { $0.member("subscriptionID", subscriptionID) }
    }

    static func schema(in scope: SchemaScope) -> JSONSchema {
      .any(of: [.text, .object(["subscriptionID": .text], isOpen: true)])
    }
  }
}

/// The answer of `subscriptions/list`, `subscriptions/lookup` and `subscriptions/modify`.
public struct SubscriptionsResponse: Sendable {
  /// A successful item of the answer.
  public enum Item: Sendable, Hashable {
    /// A subscription.
    ///
    /// - Parameter replaced: The kind of the subscription that the save replaced, if it was another
    ///   kind; otherwise nil. Petrel's addition.
    case subscription(Subscription, replaced: Subscription.KindName? = nil)
    /// A subscription that the request deleted.
    case deleted(subscriptionID: String)
  }

  /// The results, and the errors of items that failed.
  public var subscriptions: [Result<Item, FailedItem>]

  /// Creates an answer.
  public init(subscriptions: [Result<Item, FailedItem>]) {
    self.subscriptions = subscriptions
  }
}

extension SubscriptionsResponse: Message, MessageObject {
  package static let schemaName: String? = "SubscriptionsResponse"
  package static let blank = SubscriptionsResponse(subscriptions: [])

  package var approximateSize: Int { 512 * subscriptions.count }

  package mutating func code<Coder: MessageCoder & ~Copyable>(
    _ coder: inout Coder
  ) throws(Coder.Failure) {
    try coder.required("subscriptions", &subscriptions)
  }
}

extension SubscriptionsResponse.Item: MessagePart {
  package init(_ reader: MessageReader) throws(ServiceError) {
    if try reader.optionalBool("deleted") == true {
      self = .deleted(subscriptionID: try reader.member("subscriptionID").string())
      return
    }
    // A later server may send a kind that this client does not know. The client then ignores it,
    // because the rest of the answer is valid.
    let replaced = try reader.optionalString("replacedSubscriptionType")
    self = .subscription(
      try Subscription(reader), replaced: replaced.flatMap(Subscription.KindName.init))
  }

  package func write(to writer: inout JSONWriter, context: MessageContext) {
    switch self {
    case .subscription(let subscription, let replaced):
      subscription.write(to: &writer, context: context, replaced: replaced)
    case .deleted(let subscriptionID):
      writer.object { writer in
        writer.member("subscriptionID", subscriptionID)
        writer.member("deleted", true)
      }
    }
  }

  package static func schema(in scope: SchemaScope) -> JSONSchema {
    .any(of: [
      Subscription.schema(in: scope),
      .object(["subscriptionID": .text, "deleted": .constant(true)]),
    ])
  }
}
