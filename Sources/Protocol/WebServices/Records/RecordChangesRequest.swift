import CloudKitModel
import Foundation
import JSONCoding

/// What is asked of one zone's change feed: the body of `records/changes`, or an item of
/// `changes/zone`.
public struct RecordChangesRequest: Sendable, Hashable {
  public var zoneID: ZoneID
  /// Where to go on; nil begins with everything.
  public var syncToken: String?
  /// Changes in the answer at most; 0 leaves it to the server.
  public var resultsLimit = 0
  /// Whether the newest change comes first.
  public var isReversed = false
  /// The fields that the answer shall hold; nil means all.
  public var desiredKeys: Set<String>?
  /// The types of the records that the answer shall hold; nil means all.
  public var desiredRecordTypes: Set<String>?
  public var numbersAsStrings = false

  public init(zoneID: ZoneID, syncToken: String? = nil) {
    self.zoneID = zoneID
    self.syncToken = syncToken
  }

  /// Reads the body of `records/changes`.
  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    try self.init(MessageReader(parsing: body, context: context), defaults: nil)
  }

  /// - Parameter defaults: what counts where the message is silent.
  init(_ reader: MessageReader, defaults: RecordChangesRequest?) throws(ServiceError) {
    self = defaults ?? RecordChangesRequest(zoneID: .default)
    zoneID = try reader.zoneID() ?? zoneID
    syncToken = try reader.optionalString("syncToken") ?? syncToken
    resultsLimit = try reader.resultsLimit() ?? resultsLimit
    isReversed = try reader.optionalBool("reverse") ?? isReversed
    desiredKeys = try reader.optionalStrings("desiredKeys").map(Set.init) ?? desiredKeys
    desiredRecordTypes =
      try reader.optionalStrings("desiredRecordTypes").map(Set.init) ?? desiredRecordTypes
    // Apple's reference has it in the singular here.
    for key in ["numberAsStrings", "numbersAsStrings"] {
      numbersAsStrings = try reader.optionalBool(key) ?? numbersAsStrings
    }
  }

  public func body(context: MessageContext) -> Data {
    var writer = JSONWriter()
    write(to: &writer, context: context)
    return writer.data
  }

  func write(to writer: inout JSONWriter, context: MessageContext) {
    writer.object { writer in
      writer.key("zoneID")
      zoneID.write(to: &writer, context: context)
      writer.member("syncToken", ifPresent: syncToken)
      if resultsLimit > 0 { writer.member("resultsLimit", resultsLimit) }
      if isReversed { writer.member("reverse", true) }
      writer.member("desiredKeys", ifPresent: desiredKeys.map { $0.sorted() })
      writer.member("desiredRecordTypes", ifPresent: desiredRecordTypes.map { $0.sorted() })
      if numbersAsStrings { writer.member("numbersAsStrings", true) }
    }
  }
}

/// The body of `changes/zone`.
public struct ZoneChangesRequest: Sendable {
  /// In order; zones that could not be read stand as failed items.
  public var zones: [Result<RecordChangesRequest, FailedItem>]

  public init(zones: [RecordChangesRequest]) {
    self.zones = zones.map { .success($0) }
  }

  /// Reads the zones; keys beside the list count for those that lack them.
  public init(parsing body: Data, context: MessageContext) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    let defaults = try RecordChangesRequest(reader, defaults: nil)
    zones = try reader.limitedElements(of: "zones").items(of: .zone) {
      (element) throws(ServiceError) in
      _ = try element.member("zoneID")
      return try RecordChangesRequest(element, defaults: defaults)
    }
  }

  /// Writes the request; failed items are left out.
  public func body(context: MessageContext) -> Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("zones")
      writer.array { writer in
        for case .success(let zone) in zones { zone.write(to: &writer, context: context) }
      }
    }
    return writer.data
  }
}

extension MessageReader {
  /// The member `resultsLimit`, where there is one.
  func resultsLimit() throws(ServiceError) -> Int? {
    guard let limit = try optionalInt("resultsLimit") else { return nil }
    guard limit >= 0 else { throw mistake("resultsLimit: must not be negative") }
    return limit
  }

  /// The member `clientChangeTokenData`, where there is one: bytes in base64.
  func clientChangeTokenData() throws(ServiceError) -> Data? {
    guard let member = try optional("clientChangeTokenData") else { return nil }
    guard let data = Data(base64Encoded: try member.string()) else {
      throw member.mistake("must be base64")
    }
    let limit = ServiceLimits.clientChangeTokenSize
    guard data.count <= limit else {
      throw member.mistake("has \(data.count) bytes; the limit is \(limit)")
    }
    return data
  }
}
