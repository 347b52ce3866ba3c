/// A place on the earth, with how exactly and when it was measured. Immutable.
public final class CLLocation: NSObject, NSSecureCoding, NSCopying, Sendable {
  public let coordinate: CLLocationCoordinate2D
  /// Metres above sea level; valid when ``verticalAccuracy`` is not negative.
  public let altitude: CLLocationDistance
  /// Metres; negative means that the coordinate is not valid.
  public let horizontalAccuracy: CLLocationAccuracy
  /// Metres; negative means that the altitude is not valid.
  public let verticalAccuracy: CLLocationAccuracy
  /// Degrees clockwise from north; negative means not valid.
  public let course: CLLocationDirection
  /// Degrees; negative means that the course is not valid.
  public let courseAccuracy: CLLocationDirectionAccuracy
  /// Metres per second; negative means not valid.
  public let speed: CLLocationSpeed
  /// Metres per second; negative means that the speed is not valid.
  public let speedAccuracy: CLLocationSpeedAccuracy
  /// When the place was determined.
  public let timestamp: Date
  /// How the location came about, when that is known.
  public let sourceInformation: CLLocationSourceInformation?

  /// A location of which only the coordinate is known. The time is now; altitude, course and speed
  /// are marked as not valid.
  public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
    self.init(
      coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0,
      horizontalAccuracy: 0, verticalAccuracy: -1, timestamp: Date())
  }

  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, timestamp: Date
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: -1, speed: -1, timestamp: timestamp)
  }

  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    speed: CLLocationSpeed, timestamp: Date
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, courseAccuracy: -1, speed: speed,
      speedAccuracy: -1, timestamp: timestamp)
  }

  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
    speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, courseAccuracy: courseAccuracy, speed: speed,
      speedAccuracy: speedAccuracy, timestamp: timestamp, source: nil)
  }

  public convenience init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy hAccuracy: CLLocationAccuracy,
    verticalAccuracy vAccuracy: CLLocationAccuracy, course: CLLocationDirection,
    courseAccuracy: CLLocationDirectionAccuracy, speed: CLLocationSpeed,
    speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date,
    sourceInfo: CLLocationSourceInformation
  ) {
    self.init(
      coordinate: coordinate, altitude: altitude, horizontalAccuracy: hAccuracy,
      verticalAccuracy: vAccuracy, course: course, courseAccuracy: courseAccuracy, speed: speed,
      speedAccuracy: speedAccuracy, timestamp: timestamp, source: sourceInfo)
  }

  private init(
    coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
    horizontalAccuracy: CLLocationAccuracy, verticalAccuracy: CLLocationAccuracy,
    course: CLLocationDirection, courseAccuracy: CLLocationDirectionAccuracy,
    speed: CLLocationSpeed, speedAccuracy: CLLocationSpeedAccuracy, timestamp: Date,
    source: CLLocationSourceInformation?
  ) {
    self.coordinate = coordinate
    self.altitude = altitude
    self.horizontalAccuracy = horizontalAccuracy
    self.verticalAccuracy = verticalAccuracy
    self.course = course
    self.courseAccuracy = courseAccuracy
    self.speed = speed
    self.speedAccuracy = speedAccuracy
    self.timestamp = timestamp
    sourceInformation = source
  }

  public static var supportsSecureCoding: Bool { true }

  /// The keys of an archive, as in those of Apple's framework.
  private enum ArchiveKey {
    private static let prefix = "kCLLocationCodingKey"
    static let latitude = prefix + "CoordinateLatitude"
    static let longitude = prefix + "CoordinateLongitude"
    static let altitude = prefix + "Altitude"
    static let horizontalAccuracy = prefix + "HorizontalAccuracy"
    static let verticalAccuracy = prefix + "VerticalAccuracy"
    static let course = prefix + "Course"
    static let speed = prefix + "Speed"
    static let timestamp = prefix + "Timestamp"
  }

  public required init?(coder: NSCoder) {
    // Earlier archives have the names of the properties.
    func double(_ key: String, _ formerKey: String) -> Double {
      coder.decodeDouble(forKey: coder.containsValue(forKey: key) ? key : formerKey)
    }
    func accuracy(_ key: String) -> Double {
      coder.containsValue(forKey: key) ? coder.decodeDouble(forKey: key) : -1
    }
    func hasValue(_ key: String, _ formerKey: String) -> Bool {
      coder.containsValue(forKey: key) || coder.containsValue(forKey: formerKey)
    }
    guard hasValue(ArchiveKey.latitude, "latitude"), hasValue(ArchiveKey.longitude, "longitude")
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    coordinate = CLLocationCoordinate2D(
      latitude: double(ArchiveKey.latitude, "latitude"),
      longitude: double(ArchiveKey.longitude, "longitude"))
    altitude = double(ArchiveKey.altitude, "altitude")
    horizontalAccuracy = double(ArchiveKey.horizontalAccuracy, "horizontalAccuracy")
    verticalAccuracy = double(ArchiveKey.verticalAccuracy, "verticalAccuracy")
    course = double(ArchiveKey.course, "course")
    courseAccuracy = accuracy("courseAccuracy")
    speed = double(ArchiveKey.speed, "speed")
    speedAccuracy = accuracy("speedAccuracy")
    timestamp = Date(timeIntervalSinceReferenceDate: double(ArchiveKey.timestamp, "timestamp"))
    sourceInformation =
      coder.containsValue(forKey: "sourceInformation")
      ? coder.decodeObject(of: CLLocationSourceInformation.self, forKey: "sourceInformation") : nil
  }

  public func encode(with coder: NSCoder) {
    coder.encode(coordinate.latitude, forKey: ArchiveKey.latitude)
    coder.encode(coordinate.longitude, forKey: ArchiveKey.longitude)
    coder.encode(altitude, forKey: ArchiveKey.altitude)
    coder.encode(horizontalAccuracy, forKey: ArchiveKey.horizontalAccuracy)
    coder.encode(verticalAccuracy, forKey: ArchiveKey.verticalAccuracy)
    coder.encode(course, forKey: ArchiveKey.course)
    coder.encode(courseAccuracy, forKey: "courseAccuracy")
    coder.encode(speed, forKey: ArchiveKey.speed)
    coder.encode(speedAccuracy, forKey: "speedAccuracy")
    coder.encode(timestamp.timeIntervalSinceReferenceDate, forKey: ArchiveKey.timestamp)
    coder.encode(sourceInformation, forKey: "sourceInformation")
  }

  /// Immutable, so a copy is the location itself.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether the other object is a location with the same coordinate, altitude, course, speed,
  /// accuracies and time.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CLLocation else { return false }
    return coordinate.latitude == other.coordinate.latitude
      && coordinate.longitude == other.coordinate.longitude && altitude == other.altitude
      && horizontalAccuracy == other.horizontalAccuracy
      && verticalAccuracy == other.verticalAccuracy && course == other.course
      && courseAccuracy == other.courseAccuracy && speed == other.speed
      && speedAccuracy == other.speedAccuracy && timestamp == other.timestamp
  }

  public override var hash: Int {
    var hasher = Hasher()
    hasher.combine(coordinate.latitude)
    hasher.combine(coordinate.longitude)
    return hasher.finalize()
  }

  public override var description: String {
    String(
      format: "<%+.8f,%+.8f> +/- %.2fm (speed %.2f mps / course %.2f)", coordinate.latitude,
      coordinate.longitude, horizontalAccuracy, speed, course)
  }
}
