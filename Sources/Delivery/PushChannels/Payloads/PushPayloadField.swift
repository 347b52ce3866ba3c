import CloudKitModel
import Foundation
import JSONCoding

/// The value of a desired key, flat, as in `ck.qry.af`.
struct PushPayloadField: Equatable {
  enum Value: Equatable {
    case string(String)
    case int64(Int64)
    case double(Double)
    /// Seconds since 1970-01-01 UTC.
    case timestamp(Timestamp)
    case location(latitude: Double, longitude: Double)
    case reference(recordName: String, zone: PushPayloadContent.Zone)

    /// Nil for a value that a payload cannot carry.
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
      case .double, .location, .bytes, .asset, .list:
        return nil
      }
    }
  }

  var name: String
  var value: Value

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
