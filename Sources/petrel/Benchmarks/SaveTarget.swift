import Foundation

/// A server that records are saved to, and how a request for it is written.
///
/// A record has three indexed fields: a double, an integer and a string.
protocol SaveTarget: Sendable {
  var name: String { get }
  var port: Int { get }
  /// The server's process.
  var process: Int32 { get }
  /// The target of the requests.
  var path: String { get }
  /// Appends the body of a request that creates so many records.
  func writeBody(records: Int, to bytes: inout [UInt8])
}

extension SaveTarget {
  func load(connections: Int, records: Int) -> LoadGenerator {
    LoadGenerator(port: port, connections: connections, path: path) { bytes in
      writeBody(records: records, to: &bytes)
    }
  }
}

/// A server of our own. The records go to a custom zone of a private database, each under a name
/// that is made as the native client makes it.
struct PetrelSaves: SaveTarget {
  let name = "petrel"
  let port: Int
  let process: Int32
  let path: String

  func writeBody(records: Int, to bytes: inout [UInt8]) {
    bytes += #"{"atomic":true,"zoneID":{"zoneName":"Bench"},"operations":["#.utf8
    for record in 0..<records {
      if record > 0 { bytes.append(UInt8(ascii: ",")) }
      let sample = SampleEarthquake.random()
      bytes += #"{"operationType":"create","record":{"recordType":"Earthquake","recordName":""#.utf8
      SampleEarthquake.appendName(to: &bytes)
      bytes += #"","fields":{"magnitude":{"value":"#.utf8
      bytes += sample.magnitude.utf8
      bytes += #","type":"DOUBLE"},"station":{"value":"#.utf8
      bytes += sample.station.utf8
      bytes += #","type":"INT64"},"place":{"value":""#.utf8
      bytes += sample.station.utf8
      bytes += #" km from Suva","type":"STRING"}}}}"#.utf8
    }
    bytes += "]}".utf8
  }
}

/// PocketBase, which makes the names of the records itself. It takes one record in a request.
struct PocketBaseSaves: SaveTarget {
  let name = "pocketbase"
  let port: Int
  let process: Int32
  let path = "/api/collections/\(PocketBaseProcess.collection)/records"

  func writeBody(records: Int, to bytes: inout [UInt8]) {
    let sample = SampleEarthquake.random()
    bytes += #"{"magnitude":"#.utf8
    bytes += sample.magnitude.utf8
    bytes += #","station":"#.utf8
    bytes += sample.station.utf8
    bytes += #","place":""#.utf8
    bytes += sample.station.utf8
    bytes += #" km from Suva"}"#.utf8
  }
}

/// What the records of the load are about.
private struct SampleEarthquake {
  var magnitude: String
  var station: String

  static func random() -> SampleEarthquake {
    let bits = UInt64.random(in: 0 ... .max)
    return SampleEarthquake(
      magnitude: "\(4 + bits % 4).\(1 + (bits >> 8) % 9)", station: String((bits >> 16) % 1000))
  }

  /// A random UUID.
  static func appendName(to bytes: inout [UInt8]) {
    let uuid = UUID().uuid
    withUnsafeBytes(of: uuid) { uuid in
      for (index, byte) in uuid.enumerated() {
        if index == 4 || index == 6 || index == 8 || index == 10 { bytes.append(UInt8(ascii: "-")) }
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      }
    }
  }

  private static let digits = Array("0123456789ABCDEF".utf8)
}
