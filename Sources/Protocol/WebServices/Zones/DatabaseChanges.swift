import CloudKitModel
import Foundation
import JSONCoding

/// The two operations that tell which zones of a database changed.
public enum DatabaseChangesForm: Sendable, Hashable {
  /// `changes/database`.
  case current
  /// `zones/changes`, which `changes/database` superseded.
  case superseded

  /// The name of the change token.
  fileprivate var tokenKey: String {
    switch self {
    case .current: "syncToken"
    case .superseded: "metaSyncToken"
    }
  }
}

/// The body of `changes/database` or `zones/changes`.
public struct DatabaseChangesRequest: Sendable, Hashable {
  /// Where to go on; nil begins with everything.
  public var syncToken: String?
  /// Zones in the answer at most; 0 leaves it to the server.
  public var resultsLimit: Int

  public init(syncToken: String? = nil, resultsLimit: Int = 0) {
    self.syncToken = syncToken
    self.resultsLimit = resultsLimit
  }

  public init(
    parsing body: Data, as form: DatabaseChangesForm = .current, context: MessageContext
  ) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    syncToken = try reader.optionalString(form.tokenKey)
    resultsLimit = try reader.resultsLimit() ?? 0
  }

  public func body(as form: DatabaseChangesForm = .current) -> Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member(form.tokenKey, ifPresent: syncToken)
      if resultsLimit > 0 { writer.member("resultsLimit", resultsLimit) }
    }
    return writer.data
  }
}

/// The answer of `changes/database` or `zones/changes`.
public struct DatabaseChangesResponse: Sendable {
  public var zones: [Result<ZoneChange, FailedItem>]
  /// Stands for what was read up to here.
  public var syncToken: String
  /// Whether there is more to read now.
  public var moreComing: Bool

  public init(zones: [Result<ZoneChange, FailedItem>], syncToken: String, moreComing: Bool) {
    self.zones = zones
    self.syncToken = syncToken
    self.moreComing = moreComing
  }

  public init(
    parsing body: Data, as form: DatabaseChangesForm = .current, context: MessageContext
  ) throws(ServiceError) {
    let reader = try MessageReader(parsing: body, context: context)
    zones = try reader.member("zones").answers { (element) throws(ServiceError) in
      let zoneID = try ZoneID(try element.member("zoneID"))
      return try element.optionalBool("deleted") == true ? .deleted(zoneID) : .changed(zoneID)
    }
    syncToken = try reader.member(form.tokenKey).string()
    moreComing = try reader.optionalBool("moreComing") ?? false
  }

  public func body(as form: DatabaseChangesForm = .current, context: MessageContext) -> Data {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("zones")
      writer.array { writer in
        for zone in zones {
          switch zone {
          case .success(let change): change.write(to: &writer, as: form, context: context)
          case .failure(let failed): failed.write(to: &writer, context: context)
          }
        }
      }
      writer.member(form.tokenKey, syncToken)
      writer.member("moreComing", moreComing)
    }
    return writer.data
  }
}

extension ZoneChange {
  fileprivate func write(
    to writer: inout JSONWriter, as form: DatabaseChangesForm, context: MessageContext
  ) {
    writer.object { writer in
      writer.key("zoneID")
      switch self {
      case .changed(let zoneID):
        zoneID.write(to: &writer, context: context, isResponse: true)
        // The superseded answer holds whole zones.
        if form == .superseded { writer.member("atomic", true) }
      case .deleted(let zoneID):
        zoneID.write(to: &writer, context: context, isResponse: true)
        writer.member("deleted", true)
      }
    }
  }
}
