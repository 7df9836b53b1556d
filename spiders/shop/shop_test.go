package shop_test

import (
	"testing"

	"github.com/skitterhq/skitter/shared/spider/spidertest"
	"github.com/skitterhq/skitter/spiders/shop"
)

func TestProduct(t *testing.T) {
	spidertest.Golden(t, shop.Spider(), "", "http://shop.example/p/7", "testdata/product.html")
}

func TestPageWithoutProduct(t *testing.T) {
	spidertest.Golden(t, shop.Spider(), "", "http://shop.example/", "testdata/home.html")
}
