// Code written against Apple's module counts on these coming with it.
@_exported import CoreLocation
@_exported import Dispatch
@_exported import Foundation
