import Foundation

/// A server on which the benchmark saves records, with the format of the server's requests.
///
/// A record has three indexed fields: a double, an integer and a string.
protocol SaveTarget: Sendable {
  var name: String { get }
  var port: Int { get }
  /// The process identifier of the server, to measure its processor time.
  var process: Int32 { get }
  func request(records: Int) -> LoadRequest
}

extension SaveTarget {
  /// Returns a load with at least 32 different requests for this server.
  func load(connections: Int, records: Int) -> LoadGenerator {
    LoadGenerator(
      port: port, connections: connections,
      requests: (0..<max(32, 1_024 / records)).map { _ in request(records: records) })
  }
}

/// A Petrel server. The requests save records in a custom zone of a private database. The record
/// names have the format of a UUID, as those that the native client creates.
struct PetrelSaves: SaveTarget {
  let name: String
  let port: Int
  let process: Int32
  /// The path of `records/modify` with the caller's token.
  let path: String
  let recordType: String

  func request(records: Int) -> LoadRequest {
    var body = Array(#"{"atomic":true,"zoneID":{"zoneName":"Bench"},"operations":["#.utf8)
    var names: [Int] = []
    for record in 0..<records {
      if record > 0 { body.append(UInt8(ascii: ",")) }
      let sample = SampleEarthquake.random()
      body += #"{"operationType":"create","record":{"recordType":"\#(recordType)","#.utf8
      body += #""recordName":""#.utf8
      names.append(body.count)
      body += [UInt8](repeating: UInt8(ascii: "0"), count: LoadRequest.nameLength)
      body += #"","fields":{"magnitude":{"value":\#(sample.magnitude),"type":"DOUBLE"},"#.utf8
      body += #""station":{"value":\#(sample.station),"type":"INT64"},"#.utf8
      body += #""place":{"value":"\#(sample.station) km from Suva","type":"STRING"}}}}"#.utf8
    }
    body += "]}".utf8
    return LoadRequest(path: path, body: body, names: names)
  }
}

/// A PocketBase server. The server itself creates the names of the records. A request always saves
/// one record, whatever `records` is.
struct PocketBaseSaves: SaveTarget {
  let name = "pocketbase"
  let port: Int
  let process: Int32

  func request(records: Int) -> LoadRequest {
    let sample = SampleEarthquake.random()
    let body = """
      {"magnitude":\(sample.magnitude),"station":\(sample.station),\
      "place":"\(sample.station) km from Suva"}
      """
    return LoadRequest(
      path: "/api/collections/\(PocketBaseProcess.collection)/records", body: Array(body.utf8),
      names: [])
  }
}

/// The field values of one record, as JSON text.
private struct SampleEarthquake {
  var magnitude: String
  var station: String

  /// Returns random values: a magnitude from 4.1 to 7.9 and a station below 1,000.
  static func random() -> SampleEarthquake {
    let bits = UInt64.random(in: 0 ... .max)
    return SampleEarthquake(
      magnitude: "\(4 + bits % 4).\(1 + (bits >> 8) % 9)", station: String((bits >> 16) % 1000))
  }
}
