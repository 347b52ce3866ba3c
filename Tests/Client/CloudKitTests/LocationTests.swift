import CoreLocation
import Testing

struct LocationTests {
  private let paris = CLLocation(latitude: 48.8566, longitude: 2.3522)

  @Test("A location made of two coordinates marks what is not known as not valid")
  func shortInitializer() {
    #expect(paris.coordinate.latitude == 48.8566)
    #expect(paris.horizontalAccuracy == 0)
    #expect(paris.verticalAccuracy == -1)
    #expect(paris.course == -1)
    #expect(paris.speed == -1)
    #expect(abs(paris.timestamp.timeIntervalSinceNow) < 60)
  }

  @Test("Distances are those of great circles")
  func distance() {
    let london = CLLocation(latitude: 51.5074, longitude: -0.1278)
    #expect(abs(paris.distance(from: london) - 343_556) < 500)
    #expect(paris.distance(from: paris) == 0)
    let fiji = CLLocation(latitude: -18, longitude: 179.9)
    let across = CLLocation(latitude: -18, longitude: -179.9)
    #expect(abs(fiji.distance(from: across) - 21_150) < 100)
    let antipode = CLLocation(latitude: -48.8566, longitude: 2.3522 - 180)
    #expect(abs(paris.distance(from: antipode) - 6_371_008.7714 * .pi) < 1)
  }

  @Test("A coordinate is valid within its ranges")
  func validity() {
    #expect(CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(90, -180)))
    #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(90.1, 0)))
    #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(0, 180.1)))
    #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(.nan, 0)))
    #expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
  }

  @Test("A location goes through a secure archive with all it knows")
  func archiving() throws {
    let location = CLLocation(
      coordinate: CLLocationCoordinate2D(latitude: 1, longitude: 2), altitude: 3,
      horizontalAccuracy: 4, verticalAccuracy: 5, course: 6, courseAccuracy: 7, speed: 8,
      speedAccuracy: 9, timestamp: Date(timeIntervalSince1970: 10),
      sourceInfo: CLLocationSourceInformation(
        softwareSimulationState: true, andExternalAccessoryState: false))
    let copy = try archivedAndBack(location)
    #expect(copy == location)
    #expect(copy.hash == location.hash)
    #expect(copy.courseAccuracy == 7)
    #expect(copy.sourceInformation?.isSimulatedBySoftware == true)
    #expect(copy != paris)
  }
}
