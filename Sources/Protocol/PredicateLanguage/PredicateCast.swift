internal import CloudKitModel
internal import Foundation

/// `CAST(x, 'type')`: how a format writes values that have no literal.
///
/// | type | x |
/// | --- | --- |
/// | `NSDate` | seconds since 2001-01-01 00:00 UTC |
/// | `NSData` | Base64 |
/// | `CLLocation` | `{latitude, longitude}` |
/// | `CKReference` | `{record name, zone name, owner name}`, or `{record name}` |
///
/// The first is Foundation's; the others are this module's, so that each predicate prints to a
/// format that can be read again.
enum PredicateCast {
  /// The value that the cast stands for, or the cast itself where it is none of the above.
  static func folded(_ arguments: [PredicateTerm]) -> PredicateTerm {
    guard arguments.count == 2, case .value(.string(let type)) = arguments[1],
      let value = value(of: arguments[0], as: type)
    else { return .function("CAST", arguments) }
    return .value(value)
  }

  private static func value(of argument: PredicateTerm, as type: String) -> RecordValue? {
    switch (type, argument) {
    case ("NSDate", .value(.int64(let seconds))):
      return .timestamp(Timestamp(Date(timeIntervalSinceReferenceDate: Double(seconds))))
    case ("NSDate", .value(.double(let seconds))):
      return .timestamp(Timestamp(Date(timeIntervalSinceReferenceDate: seconds)))
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

  /// The cast that stands for a value without a literal.
  static func text(_ date: Timestamp) -> String {
    let seconds = date.date.timeIntervalSinceReferenceDate
    return "CAST(\(String(format: "%.6f", seconds)), \"NSDate\")"
  }

  static func text(_ data: Data) -> String {
    "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
  }

  static func text(_ location: Location) -> String {
    "CAST({\(location.latitude), \(location.longitude)}, \"CLLocation\")"
  }

  static func text(_ reference: CloudKitModel.Reference) -> String {
    let names = [reference.recordName, reference.zoneID?.zoneName, reference.zoneID?.ownerName]
    let list = names.compactMap { $0 }.map { PredicatePrinter.quoted($0) }
    return "CAST({\(list.joined(separator: ", "))}, \"CKReference\")"
  }
}
