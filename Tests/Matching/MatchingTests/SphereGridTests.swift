import CloudKitModel
import Foundation
import PropertyTesting
import Testing

@testable import Matching

struct SphereGridTests {
  private func place(_ generator: inout SeededGenerator) -> Location {
    func coordinate(_ edges: [Double], _ limit: Double) -> Double {
      generator.chance(1, in: 4)
        ? generator.pick(edges) : Double.random(in: -limit...limit, using: &generator)
    }
    return Location(
      latitude: coordinate([-90, -89.999, 0, 60, 89.999, 90], 90),
      longitude: coordinate([-180, -179.999, 0, 179.999, 180], 180))
  }

  @Test("the cells and the cap of a circle hold every place within", arguments: Seeds.some(20))
  func holds(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    var within = 0
    var unknown = 0
    for _ in 0..<400 {
      let center = place(&generator)
      let distance = generator.pick([0, 1, 500, 5e3, 1e5, 2e6, 9e6, 1.9e7, 2.1e7])
      let (level, cells) = SphereGrid.cover(center: center, distance: distance)
      let cap = PlaceCap(center: center, distance: distance).words
      #expect(cells.count <= 40, "\(cells.count) cells for \(distance) m around \(center)")
      for _ in 0..<20 {
        var other = place(&generator)
        if generator.chance(2, in: 3) {
          // Near enough to be within now and then.
          let reach = distance / 111_000
          other.latitude = center.latitude + Double.random(in: -1...1, using: &generator) * reach
          other.longitude =
            center.longitude + Double.random(in: -1...1, using: &generator) * reach
            / max(0.01, cos(center.latitude * .pi / 180))
          if !(-90...90).contains(other.latitude) || !(-180...180).contains(other.longitude) {
            other = center
          }
        }
        let side = PlaceCap(cap.low, cap.high).side(
          of: SpherePoint(latitude: other.latitude, longitude: other.longitude))
        #expect(
          side == .unknown || (side == .inside) == (other.distance(to: center) <= distance),
          "seed \(seed): \(other), \(center), \(distance) m")
        if side == .unknown { unknown += 1 }
        guard other.distance(to: center) <= distance else { continue }
        within += 1
        let cell = SphereGrid.cell(
          latitude: other.latitude, longitude: other.longitude, level: level)
        #expect(cells.contains(cell), "seed \(seed): \(other) from \(center), \(distance) m")
      }
    }
    #expect(within > 500)
    #expect(unknown < 2_000, "a cap decides most")
  }
}
