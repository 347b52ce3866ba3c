import CloudKitModel
import Foundation
import JSONCoding

/// A desired key with its value, as a flat member of `ck.qry.af`.
struct PushPayloadField: Equatable {
  /// A value that a payload can carry.
  enum Value: Equatable {
    /// A text, cut at the reader's limit of characters.
    case string(String)
    case int64(Int64)
    /// A finite double.
    case double(Double)
    /// A time, written as seconds since 1970-01-01 UTC.
    ///
    /// Published readers of iCloud's payloads disagree about the zero point (1970 or 2001).
    case timestamp(Timestamp)
    /// A place, with latitude and longitude in degrees.
    case location(latitude: Double, longitude: Double)
    /// A reference: the record name and the zone of the referenced record.
    case reference(recordName: String, zone: PushPayloadContent.Zone)

    /// Creates the payload's value from the value of a record's field; `nil` if a payload cannot
    /// carry it.
    ///
    /// - Parameters:
    ///   - notification: The notification. A reference without a zone is in the zone of its change.
    ///   - texts: The converter that cuts strings, and notes a cut string.
    init?(
      _ value: RecordValue, in notification: SubscriptionNotification,
      texts: inout PushPayloadTexts
    ) {
      switch value {
      case .string(let text):
        self = .string(texts.cut(text))
      case .int64(let number):
        self = .int64(number)
      case .double(let number) where number.isFinite:
        self = .double(number)
      case .timestamp(let moment):
        self = .timestamp(moment)
      case .location(let location)
      where location.latitude.isFinite && location.longitude.isFinite:
        self = .location(latitude: location.latitude, longitude: location.longitude)
      case .reference(let reference):
        let zoneID = reference.zoneID ?? notification.change.zoneID
        self = .reference(
          recordName: reference.recordName,
          zone: PushPayloadContent.Zone(
            name: zoneID.zoneName,
            owner: PushPayloadContent.ownerName(of: zoneID, in: notification)))
      case .double, .preciseTimestamp, .location, .bytes, .asset, .list:
        return nil
      }
    }
  }

  var name: String
  var value: Value

  /// Writes the member, with the desired key as its name. Times without a fraction of a second are
  /// written as integers.
  func write(to writer: inout JSONWriter) {
    switch value {
    case .string(let text):
      writer.member(name, text)
    case .int64(let number):
      writer.member(name, number)
    case .double(let number):
      writer.member(name, number)
    case .timestamp(let moment):
      if moment.milliseconds % 1000 == 0 {
        writer.member(name, moment.milliseconds / 1000)
      } else {
        writer.member(name, moment.seconds)
      }
    case .location(let latitude, let longitude):
      writer.key(name)
      writer.object { writer in
        writer.member("latitude", latitude)
        writer.member("longitude", longitude)
      }
    case .reference(let recordName, let zone):
      writer.key(name)
      writer.object { writer in
        writer.member("recordName", recordName)
        writer.member("zoneName", zone.name)
        writer.member("ownerName", zone.owner)
      }
    }
  }
}
