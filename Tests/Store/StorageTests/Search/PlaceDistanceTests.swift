import CloudKitModel
import PropertyTesting
import Testing

@testable import Storage

struct PlaceDistanceTests {
  @Test("they are those of the places, but for what a key leaves out", arguments: Seeds.some(4))
  func model(seed: Int) {
    var random = SeededGenerator(seed: seed)
    func place() -> Location {
      Location(
        latitude: random.chance(1, in: 5)
          ? random.pick([-90, -89.999_99, 0, 89.999_99, 90])
          : Double.random(in: -90...90, using: &random),
        longitude: random.chance(1, in: 5)
          ? random.pick([-180, -179.999_99, 0, 180])
          : Double.random(in: -180...180, using: &random))
    }
    for round in 0..<4_000 {
      let center = place()
      var other = place()
      switch round % 4 {
      // Here, close by, and on the other side of the earth.
      case 0: other = center
      case 1:
        other = center
        other.latitude = min(
          90, max(-90, other.latitude + .random(in: -1e-4...1e-4, using: &random)))
      case 2:
        other = Location(
          latitude: -center.latitude,
          longitude: center.longitude > 0 ? center.longitude - 180 : center.longitude + 180)
      default: break
      }
      let exact = center.distance(to: other)
      let key = IndexKey(ValueKey.key(of: other))
      let metres = PlaceDistance(from: center).metres(to: key.head)
      #expect(
        abs(metres - exact) <= PlaceDistance.error, "seed \(seed): from \(center) to \(other)")
      for radius in [exact, exact + 1_000] {
        #expect(
          AccessPath.Circle(center: center, radius: radius).mayHold(key.head),
          "seed \(seed): \(radius) m around \(center) without \(other)")
      }
      #expect(
        exact < 2 || !AccessPath.Circle(center: center, radius: exact - 2).mayHold(key.head),
        "seed \(seed): \(exact - 2) m around \(center) with \(other)")
    }
  }
}
