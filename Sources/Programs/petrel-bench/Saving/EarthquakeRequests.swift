import Foundation

/// The paths and bodies of requests that several benchmarks use. Their records are earthquakes,
/// each of which belongs to a station.
enum EarthquakeRequests {
  /// The container of all benchmarks.
  static let container = "iCloud.org.example.Bench"

  /// Returns the path of an operation, with the caller's web auth token and client ID in the query.
  ///
  /// Operations that begin with `tokens/` do not concern a database, so `scope` has no effect on
  /// them.
  ///
  /// - Parameters:
  ///   - scope: The database: `public` or `private`.
  ///   - token: The web auth token, not yet escaped.
  static func path(
    _ operation: String, scope: String = "public", token: String, device: String
  ) -> String {
    let prefix = operation.hasPrefix("tokens/") ? "device" : "database"
    let database = operation.hasPrefix("tokens/") ? "" : "/\(scope)"
    let escaped = token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? token
    return "/\(prefix)/1/\(container)/development\(database)/\(operation)"
      + "?ckWebAuthToken=\(escaped)&clientId=\(device)"
  }

  static func save(recordName: String, station: Int) -> [UInt8] {
    Array("{\"operations\":[\(operation(recordName: recordName, station: station))]}".utf8)
  }

  /// Returns the JSON of an operation that creates a record, as in the body of
  /// ``save(recordName:station:)``.
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

  static func register(deviceToken: String) -> [UInt8] {
    Array(#"{"apnsEnvironment":"development","apnsToken":"\#(deviceToken)"}"#.utf8)
  }

  /// Returns the body that saves one query subscription for each station. A subscription fires when
  /// a record of its station is created.
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
