import CloudKitModel
import Foundation
import PropertyTesting
import Testing

struct LocationTests {
  private static let quarter = Location.earthRadius * .pi / 2

  @Test(
    "Between known cities, to half a percent: the sphere is not the ellipsoid",
    arguments: [
      // Paris – New York, London – Sydney, Suva – Apia (across the date line), Quito – Singapore.
      (48.8566, 2.3522, 40.7128, -74.0060, 5_837_000),
      (51.5074, -0.1278, -33.8688, 151.2093, 16_994_000),
      (-18.1416, 178.4419, -13.8333, -171.7667, 1_145_000),
      (-0.1807, -78.4678, 1.3521, 103.8198, 19_752_000),
    ])
  func cities(
    latitude: Double, longitude: Double, otherLatitude: Double, otherLongitude: Double,
    metres: Double
  ) {
    let distance = Location(latitude: latitude, longitude: longitude)
      .distance(to: Location(latitude: otherLatitude, longitude: otherLongitude))
    #expect(abs(distance - metres) < metres * 0.005, "\(distance)")
  }

  @Test(
    "Poles, date line, antipodes",
    arguments: [
      (90, 0, 90, 123, 0), (90, 0, 0, 45, 1), (90, 0, -90, 77, 2), (0, 180, 0, -180, 0),
      (0, 0, 0, 180, 2), (0, -90, 0, 90, 2), (0, 179, 0, -179, 2.0 / 90), (45, 0, -45, 180, 2),
    ] as [(Double, Double, Double, Double, Double)])
  func extremes(
    latitude: Double, longitude: Double, otherLatitude: Double, otherLongitude: Double,
    quarters: Double
  ) {
    let distance = Location(latitude: latitude, longitude: longitude)
      .distance(to: Location(latitude: otherLatitude, longitude: otherLongitude))
    #expect(abs(distance - quarters * Self.quarter) < 1e-3, "\(distance)")
  }

  @Test(
    "Symmetric, zero to itself, with the triangle inequality, as by vectors",
    arguments: Seeds.some(20))
  func properties(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let a = place(&generator)
      let b = generator.chance(1, in: 3) ? near(a, &generator) : place(&generator)
      let c = place(&generator)
      let ab = a.distance(to: b)
      #expect(ab == b.distance(to: a), "\(a) \(b)")
      #expect(a.distance(to: a) == 0, "\(a)")
      #expect(ab >= 0 && ab <= 2 * Self.quarter + 1e-6)
      #expect(abs(ab - vectorDistance(a, b)) < tolerance(of: ab), "\(a) \(b)")
      let ac = a.distance(to: c)
      let both = ab + b.distance(to: c)
      #expect(ac <= both + tolerance(of: ac) + tolerance(of: ab), "\(a) \(b) \(c)")
    }
  }

  /// Near the antipodes the haversine loses digits: a metre there, a millimetre elsewhere.
  private func tolerance(of distance: Double) -> Double {
    distance > 1.98 * Self.quarter ? 1 : 1e-3
  }

  private func place(_ generator: inout SeededGenerator) -> Location {
    Location(
      latitude: generator.pick([90, -90, 0, .random(in: -90...90, using: &generator)]),
      longitude: generator.pick([180, -180, 0, .random(in: -180...180, using: &generator)]))
  }

  private func near(_ place: Location, _ generator: inout SeededGenerator) -> Location {
    Location(
      latitude: max(-90, min(90, place.latitude + .random(in: -0.01...0.01, using: &generator))),
      longitude: max(-180, min(180, place.longitude + .random(in: -0.01...0.01, using: &generator)))
    )
  }

  /// The angle between two unit vectors from their chord and the chord of the opposite point.
  private func vectorDistance(_ a: Location, _ b: Location) -> Double {
    func vector(_ place: Location) -> SIMD3<Double> {
      let (latitude, longitude) = (place.latitude * .pi / 180, place.longitude * .pi / 180)
      return SIMD3(
        cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude))
    }
    func length(_ vector: SIMD3<Double>) -> Double { (vector * vector).sum().squareRoot() }
    let (a, b) = (vector(a), vector(b))
    return 2 * Location.earthRadius * atan2(length(a - b), length(a + b))
  }

  @Test("Altitude does not count")
  func altitude() {
    let low = Location(latitude: 1, longitude: 2, altitude: 0)
    #expect(low.distance(to: Location(latitude: 1, longitude: 2, altitude: 9_000)) == 0)
  }

  @Test(
    "Coordinates out of range or not numbers are refused, naming the field",
    arguments: [(90.001, 0), (-91, 0), (0, 180.5), (0, -181), (.nan, 0), (0, .infinity)])
  func validation(latitude: Double, longitude: Double) {
    let error = #expect(throws: ModelError.self) {
      try Location(latitude: latitude, longitude: longitude).validate(field: "spot")
    }
    #expect(error?.field == "spot")
    #expect(error?.reason.contains("'spot' is not within") == true)
  }

  @Test("The edges of the ranges are allowed")
  func edges() {
    for (latitude, longitude) in [(90.0, 180.0), (-90, -180), (0, -0.0)] {
      #expect(throws: Never.self) {
        try Location(latitude: latitude, longitude: longitude).validate(field: "spot")
      }
    }
  }
}
