internal import CloudKitModel
internal import Foundation

/// The form `CAST(x, 'type')`, with which a format writes values that have no literal.
///
/// - `NSDate`: x is the number of seconds since 2001-01-01 00:00 UTC.
/// - `NSData`: x is a string in Base64.
/// - `CLLocation`: x is `{latitude, longitude}`.
/// - `CKReference`: x is `{record name, zone name, owner name}` or `{record name}`.
///
/// The first is Foundation's. The others are this module's own, so that each predicate prints to a
/// format that can be parsed again.
enum PredicateCast {
  /// Other casts stay as a function, which the lowering refuses.
  static func folded(_ arguments: [PredicateTerm]) -> PredicateTerm {
    guard arguments.count == 2, case .value(.string(let type)) = arguments[1],
      let value = value(of: arguments[0], as: type)
    else { return .function("CAST", arguments) }
    return .value(value)
  }

  private static func value(of argument: PredicateTerm, as type: String) -> RecordValue? {
    switch (type, argument) {
    case ("NSDate", let seconds):
      return double(seconds).flatMap {
        Timestamp(storing: Date(timeIntervalSinceReferenceDate: $0)).map { .timestamp($0) }
      }
    case ("NSData", .value(.string(let text))):
      return Data(base64Encoded: text).map { .bytes($0) }
    case ("CLLocation", .aggregate(let parts)) where parts.count == 2:
      guard let latitude = double(parts[0]), let longitude = double(parts[1]) else { return nil }
      return .location(Location(latitude: latitude, longitude: longitude))
    case ("CKReference", .aggregate(let parts)):
      let names = parts.compactMap { part -> String? in
        if case .value(.string(let name)) = part { name } else { nil }
      }
      guard names.count == parts.count, !names.contains("") else { return nil }
      switch names.count {
      case 1: return .reference(CloudKitModel.Reference(recordName: names[0]))
      case 3:
        return .reference(
          CloudKitModel.Reference(
            recordName: names[0], zoneID: ZoneID(zoneName: names[1], ownerName: names[2])))
      default: return nil
      }
    default:
      return nil
    }
  }

  private static func double(_ expression: PredicateTerm) -> Double? {
    switch expression {
    case .value(.double(let double)): double
    case .value(.int64(let integer)): Double(integer)
    default: nil
    }
  }

  /// Returns the cast for a date, with six decimal places.
  static func text(_ date: Timestamp) -> String {
    let seconds = date.date.timeIntervalSinceReferenceDate
    return "CAST(\(String(format: "%.6f", seconds)), \"NSDate\")"
  }

  static func text(_ data: Data) -> String {
    "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
  }

  /// Returns the cast for a location. Only the two coordinates are kept.
  static func text(_ location: Location) -> String {
    "CAST({\(location.latitude), \(location.longitude)}, \"CLLocation\")"
  }

  /// Returns the cast for a reference. The reference's action is not kept.
  static func text(_ reference: CloudKitModel.Reference) -> String {
    let names = [reference.recordName, reference.zoneID?.zoneName, reference.zoneID?.ownerName]
    let list = names.compactMap { $0 }.map { PredicatePrinter.quoted($0) }
    return "CAST({\(list.joined(separator: ", "))}, \"CKReference\")"
  }
}
