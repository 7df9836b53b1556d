package settings_test

import (
	"fmt"

	"github.com/skitterhq/skitter/shared/settings"
)

func ExampleResolve() {
	file := settings.Layer{Name: "skitter.yaml", Values: map[string]any{"DOWNLOAD_DELAY": 2}}
	job := settings.Layer{Name: "job", Values: map[string]any{"DOWNLOAD_DELAY": "500ms", "RETRY_TIME": "3"}}

	s, err := settings.Resolve(file, job)
	fmt.Println(s.DownloadDelay)
	fmt.Println(err)
	// Output:
	// 500ms
	// setting RETRY_TIME of job: there is none of that name; did you mean RETRY_TIMES?
}

func ExampleDefinitions() {
	d := settings.Definitions()[3]
	fmt.Printf("%s (%s, %s): %s\n", d.Name, d.Default, d.Source, d.Doc)
	// Output:
	// CLOSESPIDER_ERRORCOUNT (0, Scrapy): Closes the job after so many errors of callbacks. 0: never.
}
