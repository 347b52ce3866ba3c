import CloudKit

/// One line of `fiji-earthquakes.csv`.
struct Earthquake: Sendable {
  var name: String
  var latitude: Double
  var longitude: Double
  var depth: Double
  var magnitude: Double
  var stations: Int

  var location: CLLocation { CLLocation(latitude: latitude, longitude: longitude) }

  /// The nearest of some places of the region, with the distance.
  var place: String {
    let nearest = Self.places.map { ($0.name, $0.location.distance(from: location)) }
      .min { $0.1 < $1.1 }
    guard let (name, metres) = nearest else { return "at sea" }
    return "\(Int(metres / 1000)) km from \(name)"
  }

  /// How deep, in words, as seismologists divide depths.
  var tags: [String] {
    let depthTag = depth < 70 ? "shallow" : depth < 300 ? "intermediate" : "deep"
    return magnitude >= 6 ? [depthTag, "strong"] : [depthTag]
  }

  var record: CKRecord {
    let record = CKRecord(recordType: "Earthquake", recordID: CKRecord.ID(recordName: name))
    record["magnitude"] = magnitude
    record["depth"] = depth
    record["stations"] = stations
    record["location"] = location
    record["place"] = place
    record["tags"] = tags
    return record
  }

  static let suva = CLLocation(latitude: -18.1416, longitude: 178.4419)

  private static let places: [(name: String, location: CLLocation)] = [
    ("Suva", suva),
    ("Labasa", CLLocation(latitude: -16.4167, longitude: 179.3833)),
    ("Nukuʻalofa", CLLocation(latitude: -21.1394, longitude: -175.2049)),
    ("Apia", CLLocation(latitude: -13.8333, longitude: -171.7667)),
    ("Raoul Island", CLLocation(latitude: -29.2667, longitude: -177.9167)),
    ("Port Vila", CLLocation(latitude: -17.7404, longitude: 168.3210)),
  ]
}

extension Earthquake {
  /// Reads the file: latitude, longitude, depth in km, magnitude, number of stations.
  static func read(from path: String) throws -> [Earthquake] {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    return text.split(whereSeparator: \.isNewline).dropFirst().enumerated().compactMap {
      index, line in
      let columns = line.split(separator: ",")
      guard columns.count == 5, let latitude = Double(columns[0]),
        let longitude = Double(columns[1]), let depth = Double(columns[2]),
        let magnitude = Double(columns[3]), let stations = Int(columns[4])
      else { return nil }
      return Earthquake(
        name: "fiji-\(index + 1)", latitude: latitude, longitude: longitude, depth: depth,
        magnitude: magnitude, stations: stations)
    }
  }
}
