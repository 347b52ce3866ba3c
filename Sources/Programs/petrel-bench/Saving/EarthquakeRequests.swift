import Foundation

/// The requests that the benchmarks send.
enum EarthquakeRequests {
  static let container = "iCloud.org.example.Bench"

  /// The path of an operation on a database, with the caller's token.
  static func path(
    _ operation: String, scope: String = "public", token: String, device: String
  ) -> String {
    let prefix = operation.hasPrefix("tokens/") ? "device" : "database"
    let database = operation.hasPrefix("tokens/") ? "" : "/\(scope)"
    let escaped = token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? token
    return "/\(prefix)/1/\(container)/development\(database)/\(operation)"
      + "?ckWebAuthToken=\(escaped)&clientId=\(device)"
  }

  /// Creates one record with five fields of different types.
  static func save(recordName: String, station: Int) -> [UInt8] {
    Array("{\"operations\":[\(operation(recordName: recordName, station: station))]}".utf8)
  }

  /// An operation of ``save(recordName:station:)``.
  static func operation(recordName: String, station: Int) -> String {
    let magnitude = 4 + Double(station % 30) / 10
    return """
      {"operationType":"create","record":{"recordType":"Earthquake",\
      "recordName":"\(recordName)","fields":{\
      "magnitude":{"value":\(magnitude),"type":"DOUBLE"},\
      "station":{"value":\(station),"type":"INT64"},\
      "place":{"value":"\(station) km from Suva","type":"STRING"},\
      "tags":{"value":["deep","fiji"],"type":"STRING_LIST"},\
      "location":{"value":{"latitude":-18.1,"longitude":178.4},"type":"LOCATION"}}}}
      """
  }

  /// Registers a device's APNs token.
  static func register(deviceToken: String) -> [UInt8] {
    Array(#"{"apnsEnvironment":"development","apnsToken":"\#(deviceToken)"}"#.utf8)
  }

  /// Saves subscriptions, one for each of these stations.
  static func subscribe(stations: Range<Int>) -> [UInt8] {
    let operations = stations.map { station in
      """
      {"operationType":"create","subscription":{"subscriptionType":"query",\
      "subscriptionID":"station-\(station)","zoneWide":true,"firesOn":["create"],\
      "query":{"recordType":"Earthquake","filterBy":[{"fieldName":"station",\
      "comparator":"EQUALS","fieldValue":{"value":\(station),"type":"INT64"}}]},\
      "notificationInfo":{"alertBody":"An earthquake","additionalFields":["magnitude"]}}}
      """
    }
    return Array("{\"operations\":[\(operations.joined(separator: ","))]}".utf8)
  }
}
